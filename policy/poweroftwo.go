// SPDX-License-Identifier: Apache-2.0

package policy

// PowerOfTwo draws two engines and takes the one with less load: our own requests
// on it, or those it reported where that is more. Use it with very many engines,
// or with many front ends, which it keeps from all running to the same engine.
// The queues are longer than LeastLoaded's by little. The same Seed gives the same
// choices; front ends should each have their own.
//
// Where a report is stale, our own requests alone are compared.
type PowerOfTwo struct {
	Seed uint64

	dice dice
	why  Reason
}

// Pick costs the same for any number of engines.
func (p *PowerOfTwo) Pick(r Request, engines []Engine) int {
	i, _, why := p.draw(&p.dice, &r, engines)
	p.why = why
	return i
}

// draw throws d twice and gives the better engine and the other one.
func (p *PowerOfTwo) draw(d *dice, r *Request, engines []Engine) (better, other int, why Reason) {
	n := len(engines)
	a, b, why := d.below(p.Seed, n), d.below(p.Seed, max(n-1, 1)), LeastLoad
	if b >= a && n > 1 {
		b++ // another one than a
	}
	if engines[a].Stale || engines[b].Stale {
		why = Degraded
	}
	if load(r, &engines[b]) < load(r, &engines[a]) {
		a, b = b, a
	}
	return a, b, why
}

// Decided implements Decider.
func (p *PowerOfTwo) Decided() Decision { return Decision{"power-of-two", p.why} }

// Explain implements Explainer; the scores are requests.
func (p *PowerOfTwo) Explain(r Request, engines []Engine) Explanation {
	d := p.dice // a copy: the next Pick throws the same
	better, other, why := p.draw(&d, &r, engines)
	x := Explanation{Decision: Decision{"power-of-two", why}, Pick: better, Scores: unscored(len(engines))}
	for _, i := range [...]int{better, other} {
		x.Scores[i] = float64(load(&r, &engines[i]))
	}
	return x
}
