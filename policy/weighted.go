// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"sync/atomic"
)

// Weighted tells Next that some engines can do more than others: with a weight of
// 2 an engine gets twice as much as one with 1. Use it where you know what the
// engines can do and Next goes by requests; ShortestWait learns it by itself.
//
// Next sees each engine's requests multiplied by the greatest weight over the
// engine's own, rounded. RoundRobin and Random do not look at load, so an engine
// loses some of its turns instead. A policy of your own that looks at neither
// requests nor Engine.Weight is not changed.
//
// The weight of an engine is what Set says, or Engine.Weight; one that is not
// positive and finite counts as 1. The zero value is ready for use.
type Weighted struct {
	// Next chooses. Default: the engine with the least load.
	Next Policy

	rest    leastLoad
	set     atomic.Pointer[[]float64] // by rank; 0 where Set said nothing
	engines []Engine                  // reused
	credit  []float64                 // by rank: turns saved up
}

// blind is a policy that does not look at load.
type blind interface{ blind() }

func (*RoundRobin) blind() {}
func (*Random) blind()     {}

// Set replaces the weights, by rank. It may be called from any goroutine, at any
// time; the next choice goes by it. A rank that is not named has Engine.Weight.
func (p *Weighted) Set(weights map[int]float64) {
	var list []float64
	for rank, w := range weights {
		if usable(rank) {
			list = grown(list, rank)
			list[rank] = weight(w)
		}
	}
	p.set.Store(&list)
}

// Pick costs a copy of engines and Next's choice.
func (p *Weighted) Pick(r Request, engines []Engine) int {
	heaviest := p.weigh(engines)
	next := p.next()
	if _, ok := next.(blind); ok {
		return p.turn(next, r, heaviest)
	}
	p.scale(heaviest)
	return next.Pick(r, p.engines)
}

// weigh copies engines with their weights and returns the greatest.
func (p *Weighted) weigh(engines []Engine) float64 {
	var set []float64
	if s := p.set.Load(); s != nil {
		set = *s
	}
	p.engines = append(p.engines[:0], engines...)
	heaviest := 0.0
	for i := range p.engines {
		e := &p.engines[i]
		if uint(e.Rank) < uint(len(set)) && set[e.Rank] != 0 {
			e.Weight = set[e.Rank]
		}
		e.Weight = weight(e.Weight)
		heaviest = max(heaviest, e.Weight)
	}
	return heaviest
}

// scale makes the requests of the copies comparable.
func (p *Weighted) scale(heaviest float64) {
	for i := range p.engines {
		e := &p.engines[i]
		if e.Weight != heaviest {
			f := heaviest / e.Weight
			e.InFlight, e.Waiting, e.Running = times(e.InFlight, f), times(e.Waiting, f), times(e.Running, f)
		}
	}
}

// times is n·f, rounded, and not more than would still add up.
func times(n int, f float64) int { return int(min(float64(n)*f+0.5, 1<<40)) }

// turn asks next until it names an engine that has saved up a whole turn.
func (p *Weighted) turn(next Policy, r Request, heaviest float64) int {
	const patience = 64 // choices; an engine of less than 1/64 of the weight gets a little too much
	for n := 1; ; n++ {
		i := next.Pick(r, p.engines)
		e := &p.engines[i]
		if !usable(e.Rank) {
			return i
		}
		p.credit = grown(p.credit, e.Rank)
		p.credit[e.Rank] += e.Weight / heaviest
		if p.credit[e.Rank] >= 1 || n == patience {
			p.credit[e.Rank] = max(p.credit[e.Rank]-1, 0)
			return i
		}
	}
}

func (p *Weighted) next() Policy {
	if p.Next != nil {
		return p.Next
	}
	return &p.rest
}

// Reported passes fresh load on to Next.
func (p *Weighted) Reported(engines []Engine) { report(p.Next, engines) }

// Routed passes a choice on to Next.
func (p *Weighted) Routed(r Request, e Engine) { routed(p.Next, r, e) }

// Observe passes events on to Next.
func (p *Weighted) Observe(events []Event) { observe(p.Next, events) }

// Decided implements Decider; the decision is Next's.
func (p *Weighted) Decided() Decision { return decided(p.next()) }

// Explain implements Explainer; the scores are Next's, of the scaled load.
func (p *Weighted) Explain(r Request, engines []Engine) Explanation {
	kept := slices.Clone(p.credit)
	heaviest := p.weigh(engines)
	next := p.next()
	if _, ok := next.(blind); !ok {
		p.scale(heaviest)
		return explain(next, r, p.engines)
	}
	x := explain(next, r, p.engines)
	x.Pick = p.peek(next, r, heaviest)
	p.credit = kept
	return x
}

// peek is turn with a copy of next.
func (p *Weighted) peek(next Policy, r Request, heaviest float64) int {
	switch n := next.(type) {
	case *RoundRobin:
		c := *n
		return p.turn(&c, r, heaviest)
	case *Random:
		c := *n
		return p.turn(&c, r, heaviest)
	}
	return -1
}
