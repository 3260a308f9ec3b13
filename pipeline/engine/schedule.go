// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/corepipe/corepipe/codec"
)

// schedule makes up the batch and returns how many tokens are prefilled for it.
// It is vLLM's order: running requests first, the youngest giving way when there
// is no room, then waiting ones in order while they fit.
func (s *Sim) schedule(now time.Duration) (prefilled int) {
	for i := len(s.waiting) - 1; i >= 0 && !s.waiting[i].seen; i-- { // came since the last step
		s.waiting[i].seen = true
		s.waiting[i].first.events[0] = codec.Event{Type: codec.EventQueued, Timestamp: seconds(now)}
	}
	if s.batch < len(s.running) {
		s.running = slices.DeleteFunc(s.running, func(r *run) bool { return r.gone })
	}
	used := 0
	for _, r := range s.running {
		used += r.held()
	}
	full := false
	for s.KVTokens > 0 && used > s.KVTokens {
		full = true
		used -= s.giveBack().held()
	}
	for !full && s.paused == unpaused && len(s.running) < cmp.Or(s.MaxBatch, DefaultMaxBatch) {
		r := s.next()
		if r == nil || s.KVTokens > 0 && used+r.held() > s.KVTokens {
			break
		}
		s.pop()
		used += r.held()
		prefilled += s.admit(r, now)
	}
	s.kvUsed = used
	return prefilled
}

// next is the first of the waiting requests, nil when there is none.
func (s *Sim) next() *run {
	for len(s.waiting) > 0 {
		if r := s.waiting[0]; !r.gone {
			return r
		}
		s.skipped--
		s.pop()
	}
	return nil
}

func (s *Sim) pop() {
	s.waiting[0] = nil
	s.waiting = s.waiting[1:]
}

// giveBack puts the youngest running request back to the head of the queue.
func (s *Sim) giveBack() *run {
	last := len(s.running) - 1
	r := s.running[last]
	s.running[last] = nil
	s.running = s.running[:last]
	s.batch--
	r.inBatch, r.returned = false, true
	s.waiting = slices.Insert(s.waiting, 0, r)
	return r
}

// admit moves r into the batch and returns how many tokens of it are prefilled.
func (s *Sim) admit(r *run, now time.Duration) int {
	r.inBatch = true
	s.batch++
	s.running = append(s.running, r)
	n := r.prompt + r.done
	c := &s.stats.PrefixCache
	if r.returned {
		c.PreemptedRequests++
		c.PreemptedQueries += n
	} else {
		c.Requests++
		c.Queries += n
	}
	if r.done == 0 {
		r.first.events[1] = codec.Event{Type: codec.EventScheduled, Timestamp: seconds(now)}
	}
	return n
}

// seconds is never 0, which would mean that there is no time.
func seconds(t time.Duration) float64 { return max(t, 1).Seconds() }
