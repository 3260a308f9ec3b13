// SPDX-License-Identifier: Apache-2.0

package policy

import "slices"

// LeastLoaded chooses as vLLM 0.32's front end does (vLLM:
// DPLBAsyncMPClient.get_core_engine_for_request): the fewest requests by report,
// never fewer than our own in flight, with a penalty on queues at engines whose
// KV cache fills up, and ties to the next engine in turn. It is the default, and
// right where requests are alike. The zero value is a single front end.
//
// Between two reports each choice counts as one more waiting request. Once an
// engine's report is stale only our own in-flight count is left.
type LeastLoaded struct {
	// ClientIndex and ClientCount say which of several front ends over the same
	// engines this is; the others are taken to send as much. 0 of 0 is one alone.
	ClientIndex, ClientCount int

	start  int   // where the scan begins; moves on by one a choice
	begun  bool  // start was set from ClientIndex
	chosen []int // by rank: waiting requests added since the last report
}

// Pick costs one pass over engines.
func (p *LeastLoaded) Pick(_ Request, engines []Engine) int {
	clients, n := max(p.ClientCount, 1), len(engines)
	if !p.begun {
		p.start, p.begun = n*p.ClientIndex/clients, true
	}
	p.start %= n
	best, least := -1, 0.0
	for k := range n {
		i := p.start + k
		if i >= n {
			i -= n
		}
		if s := p.score(&engines[i], clients); best < 0 || s < least {
			best, least = i, s
		}
	}
	p.add(engines[best].Rank, clients)
	p.start = (p.start + 1) % n
	return best
}

// score is the load of e in requests.
func (p *LeastLoaded) score(e *Engine, clients int) float64 {
	waiting := e.Waiting
	if e.Rank < len(p.chosen) {
		if e.Stale {
			p.chosen[e.Rank] = 0
		}
		waiting += p.chosen[e.Rank]
	}
	s := float64(max(clients*e.InFlight, waiting+e.Running))
	if waiting > 0 {
		s += float64(waiting) * 6 * max(0, e.KVUsage-0.5)
	}
	return s
}

// add notes a choice until the next report.
func (p *LeastLoaded) add(rank, clients int) {
	if rank >= len(p.chosen) {
		p.chosen = slices.Grow(p.chosen, rank+1-len(p.chosen))[:rank+1]
	}
	p.chosen[rank] += clients
}

// Reported drops what was added to the engines that have spoken since.
func (p *LeastLoaded) Reported(engines []Engine) {
	for i := range engines {
		if r := engines[i].Rank; r < len(p.chosen) {
			p.chosen[r] = 0
		}
	}
}
