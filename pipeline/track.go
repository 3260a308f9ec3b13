// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/corepipe/corepipe/policy"
)

// tracking carries what happens to requests back to a policy that follows them. The
// dispatch stages and whoever ends a stream put events in; the route stage hands
// them over before its next choice.
type tracking struct {
	on atomic.Bool // some policy has asked for it

	mu     sync.Mutex
	events []policy.Event
}

func (t *tracking) add(e policy.Event) {
	t.mu.Lock()
	t.events = append(t.events, e)
	t.mu.Unlock()
}

// take swaps the events for an empty slice to be filled next.
func (t *tracking) take(empty []policy.Event) (events []policy.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	events, t.events = t.events, empty
	return events
}

// account is what a policy is told of a Stream. The policy is told of a
// request's start and of its end, or of neither.
type account struct {
	slot, prompt, rank int // set by the route stage before told has isRouted
	told               atomic.Uint32
	given              atomic.Int64 // tokens
}

const (
	isRouted = 1 << iota // the policy knows of it
	isFirst              // and of its first output
	isOver               // it has ended
)

// event is one about s, which the policy knows of.
func (s *Stream) event(k policy.Kind) policy.Event {
	return policy.Event{
		Kind: k, Rank: s.rank, Slot: s.slot, Prompt: s.prompt,
		Tokens: int(s.given.Load()), At: time.Since(s.table.start),
	}
}

// gave notes an output; one without tokens, such as a refusal, is no first one. One
// goroutine does so for a stream.
func (t *Table) gave(s *Stream, tokens int) {
	if !t.tracking.on.Load() || s.told.Load()&isRouted == 0 {
		return
	}
	s.given.Add(int64(tokens))
	if tokens > 0 && s.told.Or(isFirst)&isFirst == 0 {
		t.tracking.first(s)
	}
}

// first notes the first output of a stream, unless it has ended: then its slot may
// be another's.
func (t *tracking) first(s *Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.told.Load()&isOver == 0 {
		t.events = append(t.events, s.event(policy.First))
	}
}

// over notes the end of a stream, once.
func (t *Table) over(s *Stream, k policy.Kind) {
	if s.told.Or(isOver)&isRouted != 0 {
		t.tracking.add(s.event(k))
	}
}

// gone notes that an engine has lost its caches.
func (t *Table) gone(e *engine) {
	if t.tracking.on.Load() {
		t.tracking.add(policy.Event{Kind: policy.Gone, Rank: e.rank, At: time.Since(t.start)})
	}
}

// slots are the small numbers of the live requests that a policy follows, and what
// a policy that comes later needs to know of them.
type slots struct {
	live []tracked // by slot
	free []int
}

type tracked struct {
	request policy.Request // without its tokens
	engine  policy.Engine
	live    bool
	first   policy.Event // its first output; At is 0 when there was none
}

func (s *slots) take() int {
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		return slot
	}
	s.live = append(s.live, tracked{})
	return len(s.live) - 1
}

func (s *slots) give(slot int) {
	s.live[slot] = tracked{}
	s.free = append(s.free, slot)
}

// routed tells the policy of a request that goes to e.
func (c *chooser) routed(a *Add, q policy.Request, e policy.Engine) {
	if c.tracker == nil {
		return
	}
	s := a.stream
	q.Slot = c.slots.take()
	s.slot, s.prompt, s.rank = q.Slot, q.Prompt, e.Rank
	c.tracker.Routed(q, e)
	q.Tokens = nil
	c.slots.live[q.Slot] = tracked{request: q, engine: e, live: true}
	if s.told.Or(isRouted)&isOver != 0 { // it has ended meanwhile
		c.table.tracking.add(s.event(policy.Aborted))
	}
}

// observe hands the policy what has happened.
func (c *chooser) observe() {
	if !c.table.tracking.on.Load() {
		return
	}
	c.events = c.table.tracking.take(c.events[:0])
	if len(c.events) == 0 {
		return
	}
	for _, e := range c.events {
		switch e.Kind {
		case policy.Finished, policy.Aborted:
			c.slots.give(e.Slot) // taken again after the policy knows
		case policy.First:
			c.slots.live[e.Slot].first = e
		}
	}
	if c.tracker != nil {
		c.tracker.Observe(c.events)
	}
}

// replay tells a new policy of what is live.
func (c *chooser) replay() {
	if c.tracker == nil {
		return
	}
	for _, t := range c.slots.live {
		if !t.live {
			continue
		}
		c.tracker.Routed(t.request, t.engine)
		if t.first.At > 0 {
			c.tracker.Observe([]policy.Event{t.first})
		}
	}
}
