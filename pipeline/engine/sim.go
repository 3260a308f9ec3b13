// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"time"

	"github.com/corepipe/corepipe/codec"
)

// Sim is a simulated core: a scheduler with a batch, a waiting queue and a KV
// budget, and a model that only counts. The zero value is a fast small engine.
// The fields are set before the first Add and not changed then. One goroutine
// uses a Sim; it implements Core, Mortal, Describer, Loader and Dummy.
//
// Every running request gets one token a step, by the formula of Seed and Token
// unless a script says otherwise, until max_tokens, a stop token or the end of
// the text. All outputs of a step are one message. A step costs about 20 ns for
// each running request and no allocation; a request costs five.
//
// It has no chunked prefill, prefix cache, priorities, logprobs, structured
// output, sessions (Resumable) or multi-modal data; a pooling request gets eight
// fixed numbers.
type Sim struct {
	// Vocab is the number of tokens. Default 256.
	Vocab int
	// MaxBatch is how many requests run in a step. Default 256.
	MaxBatch int
	// MaxModelLen bounds prompt and answer together. Default 131,072.
	MaxModelLen int
	// KVTokens is the room for the prompts and answers of running requests, in
	// tokens; 0 is no bound. Requests wait in order of arrival until there is
	// room. When the running ones outgrow it, the youngest goes back to the head
	// of the queue and is prefilled again later. One that can never fit ends
	// with FinishError.
	KVTokens int

	// A step takes StepTime, plus PromptTokenTime for each token that is
	// prefilled in it, plus RunningTime for each running request.
	StepTime, PromptTokenTime, RunningTime time.Duration

	// NoStats leaves scheduler statistics and events out, as vLLM's
	// --disable-log-stats.
	NoStats bool
	// Script, if set, says what happens to the n-th request, from 0. It is
	// called by Add.
	Script func(n int, r *codec.Request) Outcome

	requests int // so far
	live     map[string]*run
	waiting  []*run // in order; those that are gone are skipped when they come up
	skipped  int    // how many of waiting are gone
	running  []*run
	batch    int            // how many of running are not gone
	ended    []codec.Output // of requests that ended outside of a step

	out    codec.Outputs // reused, as what follows
	rows   []codec.Output
	tokens []uint32
	stats  codec.SchedulerStats
	kvUsed int

	utilities
	stalled   bool
	dead      bool
	announced bool
}

// Defaults of Sim; that of MaxModelLen is DefaultMaxModelLen.
const (
	DefaultVocab    = 256
	DefaultMaxBatch = 256
	defaultTokens   = 16 // vLLM's max_tokens when it is not set
)

// run is a request that is waiting or running.
type run struct {
	id       []byte
	seed     uint32
	prompt   int
	limit    int // tokens to give at most
	min      int // tokens before it may stop
	done     int // tokens given
	eos      *uint32
	stops    []uint32
	pooling  bool
	script   *scripted // nil: nothing special
	inBatch  bool      // else in waiting
	gone     bool      // aborted or ended; dropped when its queue is next walked
	seen     bool      // by a step, which is when it was queued
	returned bool      // was put back into waiting

	first struct { // of its first output
		extra   codec.Extra
		prefill codec.PrefillStats
		events  [2]codec.Event // queued and scheduled
	}
}

// held is the room that r takes, the token of this step included.
func (r *run) held() int { return r.prompt + r.done + 1 }

// Add implements Core.
func (s *Sim) Add(r *codec.Request) {
	n := &run{id: []byte(r.ID), seed: Seed(r.ID, r.Prompt), prompt: r.PromptLen(), limit: 1, pooling: r.Sampling == nil}
	if s.Script != nil {
		n.script = newScripted(s.Script(s.requests, r))
	}
	s.requests++
	if p := r.Sampling; p != nil {
		n.limit = cmp.Or(p.MaxTokens, defaultTokens)
		n.min, n.stops = p.MinTokens, p.StopTokenIDs
		if !p.IgnoreEOS {
			n.eos = p.EOSTokenID
		}
	}
	n.limit = max(1, min(n.limit, cmp.Or(s.MaxModelLen, DefaultMaxModelLen)-n.prompt))
	if earlier := s.live[r.ID]; earlier != nil { // a session, which is not simulated
		s.drop(earlier)
		s.end(n, codec.FinishError)
		return
	}
	if s.KVTokens > 0 && n.prompt+n.limit > s.KVTokens {
		s.end(n, codec.FinishError)
		return
	}
	if s.live == nil {
		s.live = map[string]*run{}
	}
	s.live[r.ID] = n
	s.waiting = append(s.waiting, n)
}

// Abort implements Core.
func (s *Sim) Abort(ids []string) {
	for _, id := range ids {
		if r := s.live[id]; r != nil {
			s.drop(r)
		}
	}
}

// drop forgets r without an output.
func (s *Sim) drop(r *run) {
	r.gone = true
	if r.inBatch {
		s.batch--
		s.kvUsed -= r.prompt + r.done
	} else {
		s.skipped++
	}
	delete(s.live, string(r.id))
}

// end puts out, with the next step, that r has ended outside of one.
func (s *Sim) end(r *run, why codec.FinishReason) {
	s.ended = append(s.ended, codec.Output{ID: r.id, Tokens: []uint32{}, Finish: why})
}

// abortAll ends everything, with an output for each, in order of id.
func (s *Sim) abortAll() {
	for _, id := range sortedKeys(s.live) {
		r := s.live[id]
		s.drop(r)
		s.end(r, codec.FinishAbort)
	}
}

// Dead implements Mortal: a script can end a Sim.
func (s *Sim) Dead() (error, bool) {
	if !s.dead {
		return nil, false
	}
	return errScript, s.announced
}

// Ready implements Describer.
func (s *Sim) Ready() codec.Ready {
	return codec.Ready{
		MaxModelLen: s.MaxModelLen, MaxNumSeqs: s.MaxBatch,
		BlockSize: DefaultBlockSize, NumGPUBlocks: s.KVTokens / DefaultBlockSize,
	}
}
