// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// Session keeps the requests of one session on one engine, where the
// conversation's KV cache is. Use it for chats and agents. A session is at home
// where its first request went, as Next chose. It keeps its home while that is
// among the engines and the session does not rest for too long.
//
// A home that has its share (Bound) is passed over for the engine with the least
// load, so that of n engines none gets above ⌈Bound·total/n⌉ requests by a session,
// however busy it is. If the session itself is what fills its home (it has half
// of such a share under way), it stays there and this request alone goes
// elsewhere; else it moves, once. What Next chooses is Next's.
//
// Memory is fixed: 24 bytes for each of Sessions, from the first request of a
// session on. When there are more, some that have rested longest are forgotten.
// The zero value is ready for use; it needs its Tracker calls.
type Session struct {
	// Next chooses for new sessions, and for requests without one. Default: the
	// engine with the least load.
	Next Policy
	// Bound is how many times the mean an engine may have, at least 1. Default 1.25.
	Bound float64
	// Idle is how long a session may rest. Default 10 minutes.
	Idle time.Duration
	// Sessions is about how many are remembered. Default 65,536.
	Sessions int
	// Key names the session of a request; empty is none. Default: Request.Session.
	Key func(Request) string

	rest  leastLoad
	known lru
	homes []place // by index in known
	slots []stay
	share int    // as of the last look for a home
	why   Reason // of the last Pick; empty when it was no matter of sessions
}

// place is where a session is at home, and how many of its requests live.
type place struct{ rank, live int32 }

// stay is the session of a live request: where it is known, by which key.
type stay struct {
	key uint64 // 0: none
	at  int32
}

// Pick costs one pass over engines.
func (p *Session) Pick(r Request, engines []Engine) int {
	i, why := p.find(&r, engines)
	p.why = why
	if i >= 0 {
		return i
	}
	if why == SessionMove || why == SessionFull {
		if k := p.lookup(&r, p.key(&r)); k >= 0 && (why == SessionMove || 2*int(p.homes[k].live) < p.share) {
			p.known.clear(k) // Routed gives it a new home
		}
	}
	if why == SessionFull {
		return p.rest.Pick(r, engines)
	}
	return p.next().Pick(r, engines)
}

// find is the index of r's home if r can go there, or -1 and why not.
func (p *Session) find(r *Request, engines []Engine) (int, Reason) {
	key := p.key(r)
	if key == "" {
		return -1, ""
	}
	k := p.lookup(r, key)
	if k < 0 {
		return -1, SessionNew
	}
	at, total := -1, 0
	for i := range engines {
		total += load(r, &engines[i])
		if engines[i].Rank == int(p.homes[k].rank) {
			at = i
		}
	}
	p.share = share(factorOr(p.Bound, 1.25), total, len(engines))
	switch {
	case at < 0:
		return -1, SessionMove
	case load(r, &engines[at]) >= p.share:
		return -1, SessionFull
	}
	return at, SessionHome
}

// lookup is the index of a session that is known and has not rested too long.
func (p *Session) lookup(r *Request, key string) int {
	idle := p.Idle
	if idle <= 0 {
		idle = 10 * time.Minute
	}
	return p.known.find(hash(key), r.Now-idle)
}

func (p *Session) key(r *Request) string {
	if p.Key != nil {
		return p.Key(*r)
	}
	return r.Session
}

func (p *Session) next() Policy {
	if p.Next != nil {
		return p.Next
	}
	return &p.rest
}

// Routed implements Tracker. A pin does not move a session that has a home.
func (p *Session) Routed(r Request, e Engine) {
	routed(p.Next, r, e)
	key := p.key(&r)
	if key == "" || !usable(e.Rank) {
		return
	}
	if p.homes == nil {
		p.known.reserve(positive(p.Sessions, 1<<16))
		p.homes = make([]place, len(p.known.cells))
	}
	h, settled := hash(key), p.lookup(&r, key) >= 0
	k, _ := p.known.put(h, r.Now)
	if !settled {
		p.homes[k] = place{rank: int32(e.Rank)}
	}
	if usable(r.Slot) {
		p.slots = grown(p.slots, r.Slot)
		p.end(r.Slot)
		p.slots[r.Slot] = stay{h, int32(k)}
		p.homes[k].live++
	}
}

// end notes that a request has left its session, once.
func (p *Session) end(slot int) {
	if uint(slot) >= uint(len(p.slots)) || p.slots[slot].key == 0 {
		return
	}
	s := p.slots[slot]
	p.slots[slot] = stay{}
	if h := &p.homes[s.at]; p.known.cells[s.at].key == s.key && h.live > 0 {
		h.live--
	}
}

// Observe implements Tracker. The sessions of an engine that is gone find a new
// home, even if it is back by then.
func (p *Session) Observe(events []Event) {
	observe(p.Next, events)
	for i := range events {
		switch v := &events[i]; v.Kind {
		case Finished, Aborted:
			p.end(v.Slot)
		case Gone:
			p.leave(v.Rank)
		}
	}
}

// leave forgets the sessions of an engine.
func (p *Session) leave(rank int) {
	for k := range p.homes {
		if int(p.homes[k].rank) == rank {
			p.known.clear(k)
		}
	}
}

// Reported passes fresh load on to Next.
func (p *Session) Reported(engines []Engine) { report(p.Next, engines) }

// Decided implements Decider.
func (p *Session) Decided() Decision {
	if p.why == "" {
		return decided(p.next())
	}
	return Decision{"session", p.why}
}

// Explain implements Explainer; the scores are those of who chose.
func (p *Session) Explain(r Request, engines []Engine) Explanation {
	i, why := p.find(&r, engines)
	var x Explanation
	switch {
	case i >= 0:
		x = Explanation{Pick: i, Scores: unscored(len(engines))}
		x.Scores[i] = float64(load(&r, &engines[i]))
	case why == SessionFull:
		x = p.rest.Explain(r, engines)
	default:
		x = explain(p.next(), r, engines)
	}
	if why != "" {
		x.Decision = Decision{"session", why}
	}
	return x
}
