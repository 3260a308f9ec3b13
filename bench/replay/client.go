// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"strconv"
	"time"

	"github.com/corepipe/corepipe/policy"
)

// client does for a policy what the route stage of package pipeline does.
type client struct {
	world    *world
	policy   policy.Policy
	reporter policy.Reporter // nil when the policy is none, as the next one
	tracker  policy.Tracker
	clock    stopwatch

	views      []view          // by rank
	candidates []policy.Engine // reused, as the next one
	fresh      []policy.Engine
	events     []policy.Event
	free       []int // slots
	slots      int   // how many there are
}

// view is what is known of an engine.
type view struct {
	inFlight int
	said     policy.Engine // its load, at the end of its last step
	shown    policy.Engine // its load, as the coordinator passed it on
	at       time.Duration // when it did
	reported bool          // and no choice has been made since
}

func newClient(p policy.Policy, w *world) *client {
	c := &client{world: w, policy: p, views: make([]view, w.Engines), clock: newStopwatch()}
	c.reporter, _ = p.(policy.Reporter)
	c.tracker, _ = p.(policy.Tracker)
	return c
}

// choose asks the policy for an engine for the i-th request; nil when there is none.
func (c *client) choose(r *run, i int) *engine {
	q := policy.Request{
		ID: strconv.Itoa(i), Tokens: r.tokens[:r.Prompt:r.Prompt], Prompt: r.Prompt, MaxTokens: r.MaxTokens,
		Session: r.Session, Managed: len(c.views), Now: c.world.now,
	}
	c.look()
	if len(c.candidates) == 0 {
		return nil
	}
	c.clock.start()
	if c.reporter != nil && len(c.fresh) > 0 {
		c.reporter.Reported(c.fresh)
	}
	c.observe()
	pick := c.policy.Pick(q, c.candidates)
	if pick >= 0 && pick < len(c.candidates) {
		c.routed(q, r, c.candidates[pick])
	}
	c.clock.stop()
	if pick < 0 || pick >= len(c.candidates) {
		return nil
	}
	rank := c.candidates[pick].Rank
	c.views[rank].inFlight++
	return c.world.engines[rank]
}

// look fills candidates with the engines that live.
func (c *client) look() {
	w := c.world
	if w.Report == 0 && (w.Silent == 0 || w.now < w.Silent) {
		for _, e := range w.engines {
			c.heard(e, len(e.waiting)+len(e.inbox))
		}
		c.report(w.now)
	}
	c.candidates, c.fresh = c.candidates[:0], c.fresh[:0]
	for rank := range c.views {
		v := &c.views[rank]
		if w.engines[rank].dead {
			continue
		}
		e := policy.Engine{Rank: rank, Index: rank, InFlight: v.inFlight, Age: w.now - v.at}
		if e.Stale = e.Age > w.StaleAfter; !e.Stale {
			e.Waiting, e.Running, e.KVUsage = v.shown.Waiting, v.shown.Running, v.shown.KVUsage
		}
		c.candidates = append(c.candidates, e)
		if v.reported {
			v.reported = false
			c.fresh = append(c.fresh, e)
		}
	}
}

// heard notes what e says of its load.
func (c *client) heard(e *engine, waiting int) {
	c.views[e.rank].said = policy.Engine{Waiting: waiting, Running: len(e.running), KVUsage: e.cache.usage()}
}

// report passes on what all engines said last.
func (c *client) report(now time.Duration) {
	for i := range c.views {
		v := &c.views[i]
		v.shown, v.at, v.reported = v.said, now, true
	}
}

// observe hands the policy what has happened.
func (c *client) observe() {
	if c.tracker == nil || len(c.events) == 0 {
		return
	}
	for i := range c.events {
		if k := c.events[i].Kind; k == policy.Finished || k == policy.Aborted {
			c.free = append(c.free, c.events[i].Slot)
		}
	}
	c.tracker.Observe(c.events)
	c.events = c.events[:0]
}

// routed tells the policy what came of its choice.
func (c *client) routed(q policy.Request, r *run, e policy.Engine) {
	if c.tracker == nil {
		return
	}
	if n := len(c.free); n > 0 {
		q.Slot = c.free[n-1]
		c.free = c.free[:n-1]
	} else {
		q.Slot = c.slots
		c.slots++
	}
	r.slot = q.Slot
	c.tracker.Routed(q, e)
}

// tell notes something about r.
func (c *client) tell(k policy.Kind, r *run) {
	if c.tracker != nil {
		c.events = append(c.events, policy.Event{
			Kind: k, Rank: r.engine.rank, Slot: r.slot, Prompt: r.Prompt, Tokens: r.done, At: c.world.now,
		})
	}
}

// end notes the end of r.
func (c *client) end(k policy.Kind, r *run) {
	c.tell(k, r)
	c.views[r.engine.rank].inFlight--
}

// gone notes that e has died.
func (c *client) gone(e *engine) {
	c.views[e.rank].said = policy.Engine{}
	if c.tracker != nil {
		c.events = append(c.events, policy.Event{Kind: policy.Gone, Rank: e.rank, At: c.world.now})
	}
}

// stopwatch sums up real time, less what reading the clock takes.
type stopwatch struct {
	began    time.Time
	overhead time.Duration
	sum      time.Duration
	n        int
}

func newStopwatch() stopwatch {
	const samples = 256
	var s stopwatch
	for range samples {
		s.start()
		s.stop()
	}
	return stopwatch{overhead: s.sum / samples}
}

func (s *stopwatch) start() { s.began = time.Now() }

func (s *stopwatch) stop() {
	s.sum += max(time.Since(s.began)-s.overhead, 0)
	s.n++
}

// rate is how many times a second it could be started and stopped.
func (s *stopwatch) rate() float64 { return float64(s.n) / max(s.sum, 1).Seconds() }
