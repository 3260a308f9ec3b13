// SPDX-License-Identifier: Apache-2.0

package policy

import "math"

// load is how many requests e has: ours, exactly, or what it reported where that
// is more; with several front ends, the others are taken to have sent as many.
func load(r *Request, e *Engine) int {
	return max(max(r.Clients, 1)*e.InFlight, e.Waiting+e.Running)
}

// share is the most requests that an engine may have for affinity to bring one
// more to it: factor times the mean that there is with the new one, rounded up.
func share(factor float64, total, engines int) int {
	return int(math.Ceil(factor * float64(total+1) / float64(engines)))
}

// factorOr is a factor of at least 1, or its default.
func factorOr(f, otherwise float64) float64 {
	if f >= 1 && !math.IsInf(f, 1) {
		return f
	}
	return otherwise
}

// leastLoad takes the engine with the smallest load, ties to the next in turn. It
// is what affinity falls back to without a Next.
type leastLoad struct {
	start int
	why   Reason
}

// Pick costs one pass over engines.
func (p *leastLoad) Pick(r Request, engines []Engine) int {
	i, why := p.find(&r, engines)
	p.why = why
	p.start = i + 1
	return i
}

// find changes nothing.
func (p *leastLoad) find(r *Request, engines []Engine) (int, Reason) {
	n := len(engines)
	start, why := p.start%n, LeastLoad
	best, least := -1, 0
	for k := range n {
		i := start + k
		if i >= n {
			i -= n
		}
		e := &engines[i]
		if e.Stale {
			why = Degraded
		}
		if l := load(r, e); best < 0 || l < least {
			best, least = i, l
		}
	}
	return best, why
}

// Decided implements Decider.
func (p *leastLoad) Decided() Decision { return Decision{"least-load", p.why} }

// Explain implements Explainer.
func (p *leastLoad) Explain(r Request, engines []Engine) Explanation {
	_, why := p.find(&r, engines)
	return explained(Decision{"least-load", why}, p.start%len(engines), engines, func(e *Engine) float64 {
		return float64(load(&r, e))
	})
}
