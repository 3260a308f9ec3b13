// SPDX-License-Identifier: Apache-2.0

package policy

// LeastLoadedLegacy chooses as vLLM 0.19 to 0.25 did: a waiting request weighs as
// much as four that run, by report, and each choice counts as one more waiting
// request until the next report. Use it to compare, or to keep what was tuned for
// it. The zero value is a single front end of 0.19.
//
// It does not look at our own in-flight count, so that it learns of ended
// requests by report alone. Once a report is stale, which vLLM did not notice,
// the engine's in-flight count takes its place.
type LeastLoadedLegacy struct {
	// ClientIndex and ClientCount: see LeastLoaded.
	ClientIndex, ClientCount int
	// Rotate starts each scan one engine further, as 0.25 does, so that ties go
	// round. Without it they go to the first engine of this front end.
	Rotate bool

	picks int // so far
	added added
	why   Reason
}

// Pick costs one pass over engines.
func (p *LeastLoadedLegacy) Pick(_ Request, engines []Engine) int {
	n := len(engines)
	start := p.start(n)
	best, least := -1, 0
	p.why = LeastLoad
	for k := range n {
		i := start + k
		if i >= n {
			i -= n
		}
		e := &engines[i]
		if e.Stale {
			p.why = Degraded
			p.added.drop(e.Rank)
		}
		if s := p.score(e); best < 0 || s < least {
			best, least = i, s
		}
	}
	p.added.add(engines[best].Rank, max(p.ClientCount, 1))
	p.picks++
	return best
}

// start is where the next scan of n engines begins.
func (p *LeastLoadedLegacy) start(n int) int {
	first := n * p.ClientIndex / max(p.ClientCount, 1)
	if p.Rotate {
		first += p.picks
	}
	return first % n
}

// score is the load of e, where a running request is 1.
func (p *LeastLoadedLegacy) score(e *Engine) int {
	if e.Stale {
		return e.InFlight * max(p.ClientCount, 1)
	}
	return 4*(e.Waiting+p.added.at(e.Rank)) + e.Running
}

// Reported drops what was added to the engines that have spoken since.
func (p *LeastLoadedLegacy) Reported(engines []Engine) { p.added.reported(engines) }

// Decided implements Decider.
func (p *LeastLoadedLegacy) Decided() Decision { return Decision{"least-loaded-legacy", p.why} }

// Explain implements Explainer; the scores are running requests' worth.
func (p *LeastLoadedLegacy) Explain(_ Request, engines []Engine) Explanation {
	return explained(Decision{"least-loaded-legacy", freshness(engines)}, p.start(len(engines)), engines, func(e *Engine) float64 {
		return float64(p.score(e))
	})
}
