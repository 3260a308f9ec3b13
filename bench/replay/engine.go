// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"
	"time"
)

// run is a request on its way.
type run struct {
	*Request
	text
	slot     int // of the client
	engine   *engine
	prompted bool    // its prompt has been counted by hits
	computed int     // tokens in the KV cache
	chunk    int     // to be computed in the step that is under way
	done     int     // tokens given
	blocks   []int32 // in use
}

// todo is how many tokens are to be computed for the next output token: the rest of
// the prompt, or the last token given. After it gave way it is all of them again.
func (r *run) todo() int { return r.Prompt + r.done - r.computed }

// engine is a simulated one. Its owner calls step, lets as much time pass, and calls
// stepped.
type engine struct {
	Model
	rank  int
	speed float64
	cache cache

	inbox   []*run // came during the step
	waiting []*run
	running []*run // in order of arrival
	busy    bool   // a step is under way
	lives   int    // how often it has died
	dead    bool

	prompts, hits int // tokens of prompts, and of them cached
}

func newEngine(rank int, m Model, speed float64, names int) *engine {
	return &engine{Model: m, rank: rank, speed: speed, cache: newCache(m.KVTokens, names)}
}

// step begins a step, and says how long it takes; 0 is that there is nothing to do.
func (e *engine) step() time.Duration {
	e.waiting = append(e.waiting, e.inbox...)
	e.inbox = e.inbox[:0]
	e.admit(e.advance(e.MaxBatchedTokens))
	if len(e.running) == 0 {
		return 0
	}
	took := e.StepTime
	for _, r := range e.running {
		if r.done > 0 && r.chunk == 1 {
			took += e.RunningTime
		} else {
			took += time.Duration(r.chunk) * e.PromptTokenTime
		}
	}
	e.busy = true
	return time.Duration(float64(took) / e.speed)
}

// advance gives running requests their share of the budget, and returns the rest.
func (e *engine) advance(budget int) int {
	for i := 0; i < len(e.running); i++ {
		r := e.running[i]
		r.chunk = min(r.todo(), budget)
		for !e.hold(r, r.computed+r.chunk) {
			if e.giveWay() == r {
				return budget
			}
		}
		budget -= r.chunk
	}
	return budget
}

// admit takes waiting requests into the batch while there is room.
func (e *engine) admit(budget int) {
	for len(e.waiting) > 0 && budget > 0 && len(e.running) < e.MaxBatch {
		r := e.waiting[0]
		if (r.Prompt+r.done)/blockSize+1 > e.cache.room() {
			return
		}
		e.waiting[0] = nil
		e.waiting = e.waiting[1:]
		e.reuse(r)
		r.chunk = min(r.todo(), budget)
		e.running = append(e.running, r)
		e.hold(r, r.computed+r.chunk) // there is room
		budget -= r.chunk
	}
}

// reuse takes the blocks that hold the beginning of r. Its last token is computed in
// any case, for there is no output without.
func (e *engine) reuse(r *run) {
	for _, n := range r.chain[:(r.Prompt+r.done-1)/blockSize] {
		b, ok := e.cache.hit(n)
		if !ok {
			break
		}
		r.blocks = append(r.blocks, b)
	}
	r.computed = len(r.blocks) * blockSize
	if !r.prompted {
		r.prompted = true
		e.prompts += r.Prompt
		e.hits += r.computed
	}
}

// hold takes blocks for the first n tokens of r, false when there are too few. Full
// ones are known at once, to requests that come in the same step too, as with vLLM.
func (e *engine) hold(r *run, n int) bool {
	for len(r.blocks)*blockSize < n {
		b, ok := e.cache.take()
		if !ok {
			return false
		}
		r.blocks = append(r.blocks, b)
	}
	for i := r.computed / blockSize; i < n/blockSize; i++ {
		e.cache.fill(r.blocks[i], r.chain[i])
	}
	return true
}

// giveWay puts the youngest running request back to the head of the queue.
func (e *engine) giveWay() *run {
	last := len(e.running) - 1
	r := e.running[last]
	e.running = e.running[:last]
	e.drop(r)
	e.waiting = slices.Insert(e.waiting, 0, r)
	return r
}

// drop ends r's use of the KV cache. The end of a text is the first to be forgotten.
func (e *engine) drop(r *run) {
	for _, b := range slices.Backward(r.blocks) {
		e.cache.leave(b)
	}
	r.blocks, r.computed, r.chunk = r.blocks[:0], 0, 0
}

// stepped ends a step and adds those to given that got a token.
func (e *engine) stepped(given []*run) []*run {
	e.busy = false
	for _, r := range e.running {
		whole := r.chunk > 0 && r.chunk == r.todo()
		r.computed += r.chunk
		r.chunk = 0
		if whole {
			r.done++
			given = append(given, r)
		}
	}
	e.running = slices.DeleteFunc(e.running, func(r *run) bool {
		if r.done == r.Output {
			e.drop(r)
		}
		return r.done == r.Output
	})
	return given
}

// die ends the engine, and returns what it had.
func (e *engine) die() []*run {
	all := slices.Concat(e.running, e.waiting, e.inbox)
	e.running, e.waiting, e.inbox = nil, nil, nil
	e.dead, e.busy = true, false
	e.lives++
	e.cache = newCache(e.KVTokens, len(e.cache.known)-1)
	return all
}
