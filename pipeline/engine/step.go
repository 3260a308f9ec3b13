// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/corepipe/corepipe/codec"
)

// Step implements Core. What it returns is used again at the next Step.
func (s *Sim) Step(now time.Duration) (*codec.Outputs, time.Duration) {
	if s.dead || s.stalled {
		return nil, 0
	}
	s.stats.PrefixCache = codec.PrefixCacheStats{}
	prefilled := 0
	if s.paused != frozen {
		prefilled = s.schedule(now)
	}
	active := s.running
	if s.paused == frozen {
		active = nil
	}
	if len(active)+len(s.ended) == 0 {
		return nil, 0
	}
	for _, r := range active {
		if r.script.fatal(r.done) {
			s.stalled, s.dead, s.announced = r.script.Stall, r.script.Die, !r.script.Silent
			return nil, 0
		}
	}
	var took time.Duration
	if n := time.Duration(len(active)); n > 0 {
		took = s.StepTime + time.Duration(prefilled)*s.PromptTokenTime + n*s.RunningTime
	}
	s.generate(active)
	s.out = codec.Outputs{Rows: s.rows, WeightVersion: s.version()}
	if !s.NoStats {
		s.out.SetStats(s.report())
	}
	return &s.out, took
}

// generate fills rows with what ended outside and a token for each of active.
func (s *Sim) generate(active []*run) {
	s.rows = append(s.rows[:0], s.ended...)
	clear(s.ended)
	s.ended = s.ended[:0]
	s.tokens = slices.Grow(s.tokens[:0], len(active)) // not moved while rows point into it
	vocab := uint32(cmp.Or(s.Vocab, DefaultVocab))
	for _, r := range active {
		first, held := r.done == 0, r.held()
		s.rows = append(s.rows, codec.Output{ID: r.id})
		row := &s.rows[len(s.rows)-1]
		switch {
		case r.pooling:
			row.Tokens, row.Finish = []uint32{}, codec.FinishStop
		case r.script.final(r.done):
			row.Tokens, row.Finish = []uint32{}, r.script.Finish
		default:
			at := len(s.tokens)
			s.tokens = append(s.tokens, r.token(vocab))
			row.Tokens = s.tokens[at : at+1 : at+1]
			r.done++
			row.Finish = r.finish(row.Tokens[0])
		}
		if first || row.Finish != codec.FinishNone {
			s.rare(r, row, first)
		}
		if row.Finish != codec.FinishNone {
			r.gone = true // leaves the batch when the next one is made up
			s.batch--
			s.kvUsed -= held
			delete(s.live, string(r.id))
		}
	}
}

// token is the next one of r.
func (r *run) token(vocab uint32) uint32 {
	if r.script != nil && r.done < len(r.script.Tokens) {
		return r.script.Tokens[r.done]
	}
	return Token(r.seed, r.done, vocab)
}

// finish says whether r ends with this token, in vLLM's order.
func (r *run) finish(token uint32) codec.FinishReason {
	switch {
	case r.script.final(r.done):
		return r.script.Finish
	case r.done < r.min:
	case r.eos != nil && token == *r.eos, slices.Contains(r.stops, token):
		return codec.FinishStop
	}
	if r.done >= r.limit {
		return codec.FinishLength
	}
	return codec.FinishNone
}
