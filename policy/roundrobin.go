// SPDX-License-Identifier: Apache-2.0

package policy

// RoundRobin gives each engine its turn, whatever its load. Use it where all
// requests cost the same. The zero value starts with the first engine.
type RoundRobin struct{ next int }

// Pick costs the same for any number of engines.
func (p *RoundRobin) Pick(_ Request, engines []Engine) int {
	i := p.next % len(engines)
	p.next = i + 1
	return i
}

// Decided implements Decider.
func (p *RoundRobin) Decided() Decision { return Decision{"round-robin", Turn} }

// Explain implements Explainer.
func (p *RoundRobin) Explain(_ Request, engines []Engine) Explanation {
	return Explanation{Decision: p.Decided(), Pick: p.next % len(engines)}
}
