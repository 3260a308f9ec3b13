// SPDX-License-Identifier: Apache-2.0

package policy

import "hash/crc32"

// LateInteraction keeps the requests of one late-interaction query on one
// engine, where its cached query embedding is, as vLLM does (vLLM:
// get_late_interaction_engine_index), and leaves every other request to Next.
// With no Next it goes round robin over the rest. While a query's engine is dead
// the next one that lives stands in for it; the other queries stay where they are.
type LateInteraction struct {
	Next Policy
	rest RoundRobin
	mine bool // the last Pick was by key
}

// Pick hashes the key, or asks Next.
func (p *LateInteraction) Pick(r Request, engines []Engine) int {
	if p.mine = r.QueryKey != ""; p.mine {
		return home(r, engines)
	}
	return p.next().Pick(r, engines)
}

func (p *LateInteraction) next() Policy {
	if p.Next != nil {
		return p.Next
	}
	return &p.rest
}

// Reported passes fresh load on to Next.
func (p *LateInteraction) Reported(engines []Engine) { report(p.Next, engines) }

// Routed passes a choice on to Next.
func (p *LateInteraction) Routed(r Request, e Engine) { routed(p.Next, r, e) }

// Observe passes events on to Next.
func (p *LateInteraction) Observe(events []Event) { observe(p.Next, events) }

// Decided implements Decider.
func (p *LateInteraction) Decided() Decision {
	if p.mine {
		return Decision{"late-interaction", Query}
	}
	return decided(p.next())
}

// Explain implements Explainer.
func (p *LateInteraction) Explain(r Request, engines []Engine) Explanation {
	if r.QueryKey != "" {
		return Explanation{Decision: Decision{"late-interaction", Query}, Pick: home(r, engines)}
	}
	return explain(p.next(), r, engines)
}

// home is the engine of a key, or the first one after it that can be chosen.
func home(r Request, engines []Engine) int {
	if r.Managed == 0 {
		return int(checksum(r.QueryKey) % uint32(len(engines)))
	}
	at := int(checksum(r.QueryKey) % uint32(r.Managed))
	best, far := 0, r.Managed
	for i := range engines {
		if d := (engines[i].Index - at + r.Managed) % r.Managed; d < far {
			best, far = i, d
		}
	}
	return best
}

// checksum is crc32.ChecksumIEEE of a string, which it would have to copy.
func checksum(s string) uint32 {
	c := ^uint32(0)
	for i := range len(s) {
		c = crc32.IEEETable[byte(c)^s[i]] ^ c>>8
	}
	return ^c
}
