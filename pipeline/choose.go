// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/policy"
)

// chooser is who asks the policy: for the route stage, and for Explain. A policy is
// called by one at a time.
type chooser struct {
	table *Table

	mu        sync.Mutex // guards what follows; before the Table's and engines' locks
	policy    policy.Policy
	reporter  policy.Reporter // nil when the policy is none, as what follows
	tracker   policy.Tracker
	decider   policy.Decider
	name      string // of a policy that does not say how it decides
	decisions map[policy.Decision]uint64
	slots     slots

	candidates, fresh []policy.Engine // reused
	events            []policy.Event  // reused
}

func newChooser(p policy.Policy, t *Table) *chooser {
	c := &chooser{table: t, decisions: map[policy.Decision]uint64{}}
	c.use(p)
	return c
}

// use makes p the policy; mu is held, or nobody else has c yet.
func (c *chooser) use(p policy.Policy) {
	c.policy, c.name = p, fmt.Sprintf("%T", p)
	c.reporter, _ = p.(policy.Reporter)
	c.tracker = policy.TrackerOf(p)
	c.decider, _ = p.(policy.Decider)
	if c.tracker != nil {
		c.table.tracking.on.Store(true) // for good: slots are given back by events
	}
}

// choose finds the engine for an add.
func (c *chooser) choose(a *Add) (*engine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := a.stream.engine.Load(); e != nil {
		c.decisions[policy.Decision{Reason: policy.Stream}]++
		return e, nil
	}
	now := time.Now()
	q := c.table.describe(a.Request, now)
	if pin := a.Request.DataParallelRank; pin != nil {
		e, err := c.table.pinned(*pin)
		if err != nil {
			return nil, err
		}
		c.decisions[policy.Decision{Reason: policy.Pin}]++
		return e, c.guard(func() { c.observe(); c.routed(a, q, policy.Engine{Rank: e.rank, Index: e.index}) })
	}
	if err := c.look(a.Request, now, false); err != nil {
		return nil, err
	}
	i, n := -1, len(c.candidates)
	err := c.guard(func() {
		if i = c.ask(q); i >= 0 && i < n {
			c.routed(a, q, c.candidates[i])
		}
	})
	switch {
	case err != nil:
		return nil, err
	case i == -1:
		return nil, ErrNoEngine
	case i < 0 || i >= n:
		return nil, &PolicyError{Pick: i, Engines: n}
	}
	return c.table.ranks[c.candidates[i].Rank], nil
}

// look fills candidates with the engines that can take q; peeking leaves what is
// fresh to be told.
func (c *chooser) look(q *codec.Request, now time.Time, peeking bool) error {
	c.candidates, c.fresh = c.table.snapshot(c.candidates[:0], c.fresh[:0], now, peeking)
	if len(c.candidates) == 0 {
		return ErrNoEngine
	}
	return c.able(q)
}

// able leaves those candidates whose release has all fields of q. When none has,
// it is an ErrUnsupported that names the field and the releases that have it.
func (c *chooser) able(q *codec.Request) (err error) {
	if len(*c.table.spoken.Load()) == 1 {
		return nil // encoding has looked
	}
	c.candidates = slices.DeleteFunc(c.candidates, func(p policy.Engine) bool {
		lacks := c.table.ranks[p.Rank].layout.Load().Holds(q)
		if lacks != nil {
			err = lacks
		}
		return lacks != nil
	})
	if len(c.candidates) > 0 {
		return nil
	}
	return err
}

// ask tells the policy what is new, has it choose, and counts why.
func (c *chooser) ask(q policy.Request) int {
	if c.table.coordination.silent(c.table.config.StaleAfter) {
		c.table.counts.blind.Add(1)
	}
	if c.reporter != nil && len(c.fresh) > 0 {
		c.reporter.Reported(c.fresh)
	}
	c.observe()
	i := c.policy.Pick(q, c.candidates)
	d := policy.Decision{Policy: c.name}
	if c.decider != nil {
		d = c.decider.Decided()
	}
	c.decisions[d]++
	return i
}

// guard makes a panic of the policy the error of one request.
func (c *chooser) guard(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PolicyError{Engines: len(c.candidates), Err: &PanicError{Value: v, Stack: debug.Stack()}}
		}
	}()
	f()
	return nil
}

// Explanation is a choice laid open, with the ranks that its indices mean.
type Explanation struct {
	policy.Explanation
	Ranks []int // of the engines that could be chosen
}

// Explain says which engine would get r now, and why, and changes nothing. Errors
// are those of routing: *PinError, ErrNoEngine, an ErrUnsupported.
func (c *Client) Explain(r *codec.Request) (x Explanation, err error) {
	h := c.table.chooser.Load()
	if h == nil {
		return x, ErrNoEngine // a Wire without Route
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if pin := r.DataParallelRank; pin != nil {
		e, err := c.table.pinned(*pin)
		if err != nil {
			return x, err
		}
		x.Reason, x.Ranks = policy.Pin, []int{e.rank}
		return x, nil
	}
	now := time.Now()
	if err := h.look(r, now, true); err != nil {
		return x, err
	}
	for _, e := range h.candidates {
		x.Ranks = append(x.Ranks, e.Rank)
	}
	x.Explanation = policy.Explanation{Decision: policy.Decision{Policy: h.name}, Pick: -1}
	err = h.guard(func() {
		h.observe()
		if p, ok := h.policy.(policy.Explainer); ok {
			x.Explanation = p.Explain(c.table.describe(r, now), h.candidates)
		}
	})
	return x, err
}

// SetPolicy exchanges the policy while requests run. The new one is told of those
// that are live if the old one was (policy.Tracker).
func (c *Client) SetPolicy(p policy.Policy) {
	h := c.table.chooser.Load()
	if h == nil {
		return // a Wire without Route
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.guard(h.observe) // the old one's panic is nobody's any more
	h.use(p)
	_ = h.guard(h.replay) // it chooses by what it has understood
}

// Decisions counts the choices so far by policy and reason; pins and further
// chunks of sessions are nobody's.
func (c *Client) Decisions() map[policy.Decision]uint64 {
	h := c.table.chooser.Load()
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.decisions)
}

// describe is what a policy may know of q.
func (t *Table) describe(q *codec.Request, now time.Time) policy.Request {
	d := policy.Request{
		ID: q.ID, Managed: len(t.engines), Clients: t.config.ClientCount, Now: now.Sub(t.start),
		Tokens: q.Prompt, Prompt: q.PromptLen(), Priority: q.Priority, Session: q.SessionID, CacheSalt: q.CacheSalt,
	}
	if q.Sampling != nil {
		d.MaxTokens = q.Sampling.MaxTokens
	}
	if q.LoRA != nil {
		d.LoRA = q.LoRA.Name
	}
	if p := q.Pooling; p != nil && p.LateInteraction != nil {
		switch l := p.LateInteraction; l.Mode {
		case "cache_query", "score_doc":
			d.QueryKey = l.QueryKey
		}
	}
	return d
}
