// SPDX-License-Identifier: Apache-2.0

package policy

import "math/bits"

// Random gives each engine the same chance, whatever its load. Use it to compare,
// or where many front ends that know nothing of each other share the engines.
// The same Seed gives the same choices; the zero value has one too, so that front
// ends should each have their own.
type Random struct {
	Seed uint64

	dice dice
}

// Pick costs the same for any number of engines.
func (p *Random) Pick(_ Request, engines []Engine) int {
	return p.dice.below(p.Seed, len(engines))
}

// Decided implements Decider.
func (p *Random) Decided() Decision { return Decision{"random", Chance} }

// Explain implements Explainer.
func (p *Random) Explain(_ Request, engines []Engine) Explanation {
	d := p.dice // a copy: the next Pick throws the same
	return Explanation{Decision: p.Decided(), Pick: d.below(p.Seed, len(engines))}
}

// dice is a splitmix64 sequence: how many numbers were taken.
type dice uint64

// below is the next number, from 0 to n-1. It is not exactly fair, by n/2⁶⁴.
func (d *dice) below(seed uint64, n int) int {
	*d++
	x := mix(seed + uint64(*d)*0x9e3779b97f4a7c15)
	hi, _ := bits.Mul64(x, uint64(n))
	return int(hi)
}

// mix spreads every bit of x over all bits (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
