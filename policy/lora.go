// SPDX-License-Identifier: Apache-2.0

package policy

import "slices"

// LoRA sends a request to an engine that has its adapter loaded, and lets Next
// choose among them. Use it where there are more adapters than an engine holds at
// a time, so that loading them is what costs. Which engine has what is known from
// the requests that were routed and from Engine.Adapters, where that is reported.
//
// Engines that have the adapter and their share of load (Bound) are left out. If
// that leaves none, Next chooses among the others, and one more engine will have
// the adapter. It chooses among all where none has it, and for requests without
// an adapter. The zero value is ready for use; it needs its Tracker calls.
type LoRA struct {
	// Next chooses among the engines that are left. Default: the least load.
	Next Policy
	// Bound is how many times the mean an engine may have for its adapter to bring
	// one more to it, at least 1. Default 2. Fewer than 4 requests are never too many.
	Bound float64
	// Adapters is how many an engine holds (vLLM: --max-loras, or --max-cpu-loras),
	// the latest ones. Default 8, at most 1024.
	Adapters int

	rest leastLoad
	held []uint64 // Adapters hashes for each rank, latest first
	few  []Engine // reused, as what follows
	at   []int    // their indexes
	why  Reason   // empty: all engines were Next's
}

const leastShare = 4

// Pick costs one pass over engines and what they hold, and Next's choice.
func (p *LoRA) Pick(r Request, engines []Engine) int {
	p.why = p.narrow(&r, engines)
	if p.why == "" {
		return p.next().Pick(r, engines)
	}
	i := p.next().Pick(r, p.few)
	if uint(i) < uint(len(p.at)) {
		return p.at[i]
	}
	return -1
}

// narrow fills few with the engines to choose from and says why; it says nothing
// when that is all of them.
func (p *LoRA) narrow(r *Request, engines []Engine) Reason {
	if r.LoRA == "" {
		return ""
	}
	h, total := hash(r.LoRA), 0
	p.few, p.at = p.few[:0], p.at[:0]
	for i := range engines {
		total += load(r, &engines[i])
		if p.has(engines[i].Rank, h) {
			p.at = append(p.at, i)
		}
	}
	most, have := max(share(factorOr(p.Bound, 2), total, len(engines)), leastShare), len(p.at)
	for _, i := range p.at {
		if load(r, &engines[i]) < most {
			p.at[len(p.few)] = i
			p.few = append(p.few, engines[i])
		}
	}
	p.at = p.at[:len(p.few)]
	switch {
	case len(p.few) > 0:
		return AdapterLoaded
	case have == 0 || have == len(engines):
		return ""
	}
	for i := range engines {
		if !p.has(engines[i].Rank, h) {
			p.few, p.at = append(p.few, engines[i]), append(p.at, i)
		}
	}
	return AdapterFull
}

func (p *LoRA) slots() int { return min(positive(p.Adapters, 8), 1024) }

// of is what the engine of a rank holds.
func (p *LoRA) of(rank int) []uint64 {
	n := p.slots()
	if rank < 0 || (rank+1)*n > len(p.held) {
		return nil
	}
	return p.held[rank*n : (rank+1)*n]
}

func (p *LoRA) has(rank int, adapter uint64) bool { return slices.Contains(p.of(rank), adapter) }

// use makes an adapter the latest of an engine; the oldest one gives way.
func (p *LoRA) use(rank int, adapter uint64) {
	if !usable(rank) {
		return
	}
	p.held = grown(p.held, (rank+1)*p.slots()-1)
	held := p.of(rank)
	at := slices.Index(held, adapter)
	if at < 0 {
		at = len(held) - 1
	}
	copy(held[1:at+1], held[:at])
	held[0] = adapter
}

func (p *LoRA) next() Policy {
	if p.Next != nil {
		return p.Next
	}
	return &p.rest
}

// Routed implements Tracker.
func (p *LoRA) Routed(r Request, e Engine) {
	routed(p.Next, r, e)
	if r.LoRA != "" {
		p.use(e.Rank, hash(r.LoRA))
	}
}

// Observe implements Tracker. An engine that is gone has no adapters.
func (p *LoRA) Observe(events []Event) {
	observe(p.Next, events)
	for i := range events {
		if events[i].Kind == Gone {
			clear(p.of(events[i].Rank))
		}
	}
}

// Reported takes in which adapters are in use, and passes the load on to Next.
func (p *LoRA) Reported(engines []Engine) {
	report(p.Next, engines)
	for i := range engines {
		for _, name := range engines[i].Adapters {
			p.use(engines[i].Rank, hash(name))
		}
	}
}

// Decided implements Decider.
func (p *LoRA) Decided() Decision {
	if p.why == "" {
		return decided(p.next())
	}
	return Decision{"lora", p.why}
}

// Explain implements Explainer; the scores are Next's.
func (p *LoRA) Explain(r Request, engines []Engine) Explanation {
	why := p.narrow(&r, engines)
	if why == "" {
		return explain(p.next(), r, engines)
	}
	few := explain(p.next(), r, p.few)
	x := Explanation{Decision: Decision{"lora", why}, Pick: -1, Scores: unscored(len(engines))}
	if uint(few.Pick) < uint(len(p.at)) {
		x.Pick = p.at[few.Pick]
	}
	for i, s := range few.Scores {
		x.Scores[p.at[i]] = s
	}
	return x
}
