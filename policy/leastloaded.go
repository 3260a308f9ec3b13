// SPDX-License-Identifier: Apache-2.0

package policy

// LeastLoaded chooses as vLLM 0.32's front end does (vLLM:
// DPLBAsyncMPClient.get_core_engine_for_request): the fewest requests by report,
// never fewer than our own in flight, with a penalty on queues at engines whose
// KV cache fills up, and ties to the next engine in turn. It is the default, and
// right where requests and engines are alike. The zero value is a single front
// end.
//
// Between two reports each choice counts as one more waiting request. Once an
// engine's report is stale only our own in-flight count is left.
type LeastLoaded struct {
	// ClientIndex and ClientCount say which of several front ends over the same
	// engines this is; the others are taken to send as much. 0 of 0 is one alone.
	ClientIndex, ClientCount int

	start int  // where the scan begins; moves on by one a choice
	begun bool // start was set from ClientIndex
	added added
	why   Reason
}

// Pick costs one pass over engines.
func (p *LeastLoaded) Pick(_ Request, engines []Engine) int {
	clients, n := max(p.ClientCount, 1), len(engines)
	if !p.begun {
		p.start, p.begun = p.first(n), true
	}
	p.start %= n
	best, least := -1, 0.0
	p.why = LeastLoad
	for k := range n {
		i := p.start + k
		if i >= n {
			i -= n
		}
		e := &engines[i]
		if e.Stale {
			p.why = Degraded
			p.added.drop(e.Rank)
		}
		if s := p.score(e, clients); best < 0 || s < least {
			best, least = i, s
		}
	}
	p.added.add(engines[best].Rank, clients)
	p.start = (p.start + 1) % n
	return best
}

// first is where the first scan of n engines begins.
func (p *LeastLoaded) first(n int) int { return n * p.ClientIndex / max(p.ClientCount, 1) }

// score is the load of e in requests.
func (p *LeastLoaded) score(e *Engine, clients int) float64 {
	waiting := e.Waiting
	if !e.Stale {
		waiting += p.added.at(e.Rank)
	}
	s := float64(max(clients*e.InFlight, waiting+e.Running))
	if waiting > 0 {
		s += float64(float64(waiting) * 6 * max(0, e.KVUsage-0.5)) // converted, so that no processor fuses it
	}
	return s
}

// Reported drops what was added to the engines that have spoken since.
func (p *LeastLoaded) Reported(engines []Engine) { p.added.reported(engines) }

// Decided implements Decider.
func (p *LeastLoaded) Decided() Decision { return Decision{"least-loaded", p.why} }

// Explain implements Explainer; the scores are requests.
func (p *LeastLoaded) Explain(_ Request, engines []Engine) Explanation {
	start := p.start
	if !p.begun {
		start = p.first(len(engines))
	}
	return explained(Decision{"least-loaded", freshness(engines)}, start, engines, func(e *Engine) float64 {
		return p.score(e, max(p.ClientCount, 1))
	})
}

// added is, by rank, how many waiting requests were added since the last report.
type added []int

func (a added) at(rank int) int {
	if uint(rank) < uint(len(a)) {
		return a[rank]
	}
	return 0
}

func (a *added) add(rank, n int) {
	if usable(rank) {
		*a = grown(*a, rank)
		(*a)[rank] += n
	}
}

func (a added) drop(rank int) {
	if uint(rank) < uint(len(a)) {
		a[rank] = 0
	}
}

func (a added) reported(engines []Engine) {
	for i := range engines {
		a.drop(engines[i].Rank)
	}
}

// freshness is the reason of a choice by reported load among engines.
func freshness(engines []Engine) Reason {
	for i := range engines {
		if engines[i].Stale {
			return Degraded
		}
	}
	return LeastLoad
}
