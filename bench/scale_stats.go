// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
)

// maxStepUp is how many times the cost of the point before a point may cost. A cost that
// falls is no cliff: what each message or request costs by itself is spread over more.
const maxStepUp = 2

// full is how many rounds all points have.
func (v *curve) full() int {
	return fewest(v.Points, func(p *point) int { return len(p.Rounds) })
}

// sum fills in what follows from the rounds, of which it keeps the full ones.
func (v *curve) sum() {
	n := v.full()
	for i, p := range v.Points {
		p.Rounds = p.Rounds[:n]
		p.median()
		p.ToFirst, p.ToBefore, p.ToCheapest, p.Added, p.Cliff = nil, nil, nil, nil, false
		if i == 0 {
			continue
		}
		before := v.Points[i-1]
		p.ToFirst, p.ToBefore = p.against(v.Points[0]), p.against(before)
		p.Cliff = p.ToBefore.Median > maxStepUp
		if size := p.size(); size > before.size() {
			p.Added = new(p.over(before, func(a, b scaled) float64 {
				return (a.Cost*size - b.Cost*before.size()) / (size - before.size())
			}))
		}
	}
	for cheapest, i := v.cheapest(), 0; i < len(v.Points); i++ {
		if p := v.Points[i]; p != cheapest {
			p.ToCheapest = p.against(cheapest)
		}
	}
}

// cheapest is the point of the least cost.
func (v *curve) cheapest() *point {
	return slices.MinFunc(v.Points, func(a, b *point) int { return cmp.Compare(a.Cost.Median, b.Cost.Median) })
}

// size is what a request's cost is divided by where that differs from point to point:
// the tokens of its prompt or the bytes of its tensor.
func (p *point) size() float64 {
	if p.AuxBytes > 0 {
		return float64(p.AuxBytes)
	}
	return float64(p.PromptTokens)
}

// median is that of each figure by itself.
func (p *point) median() {
	for i, at := range p.Median.fields() {
		var values []float64
		for k := range p.Rounds {
			values = append(values, *p.Rounds[k].fields()[i])
		}
		s := newSpread(values)
		if *at = s.Median; i == 0 {
			p.Cost = s
		}
	}
}

// against is the ratio to another point's cost.
func (p *point) against(o *point) *spread {
	return new(p.over(o, func(a, b scaled) float64 { return a.Cost / b.Cost }))
}

// over compares with another point round by round, as what is busy besides changes.
func (p *point) over(o *point, f func(a, b scaled) float64) spread {
	var each []float64
	for i := range p.Rounds {
		each = append(each, f(p.Rounds[i], o.Rounds[i]))
	}
	return newSpread(each)
}
