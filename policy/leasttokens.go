// SPDX-License-Identifier: Apache-2.0

package policy

// LeastTokens takes the engine with the fewest tokens to do: prompts that have
// not been processed yet and answers that have not ended, each at the length that
// answers have had of late, or its max_tokens if that is less. Use it where
// prompts or answers differ much in length and engines are alike. It follows its
// own requests alone, exactly, and looks at no report, so that several front ends
// do not see each other. A weightier engine (Engine.Weight) takes more.
type LeastTokens struct {
	// Answer is the length in tokens at which an answer counts before any has
	// ended. Default 256.
	Answer int

	start   int
	answer  ewma // of answers' lengths
	charges []charge
	open    []int // tokens to do, by rank
}

// charge is what a live request adds to its engine.
type charge struct {
	rank           int32
	live           bool
	prompt, answer int
}

// Pick costs one pass over engines.
func (p *LeastTokens) Pick(_ Request, engines []Engine) int {
	n := len(engines)
	start := p.start % n
	best, least, fewest := -1, 0.0, 0
	for k := range n {
		i := start + k
		if i >= n {
			i -= n
		}
		e := &engines[i]
		s := p.score(e)
		if best < 0 || s < least || s == least && e.InFlight < fewest {
			best, least, fewest = i, s, e.InFlight
		}
	}
	p.start = best + 1
	return best
}

// score is the tokens to do of e, by its capacity.
func (p *LeastTokens) score(e *Engine) float64 {
	open := 0
	if uint(e.Rank) < uint(len(p.open)) {
		open = p.open[e.Rank]
	}
	return float64(open) / weight(e.Weight)
}

// Routed implements Tracker.
func (p *LeastTokens) Routed(r Request, e Engine) {
	if !usable(r.Slot) || !usable(e.Rank) {
		return
	}
	p.open, p.charges = grown(p.open, e.Rank), grown(p.charges, r.Slot)
	p.end(r.Slot)
	c := charge{rank: int32(e.Rank), live: true, prompt: max(r.Prompt, 0), answer: p.expected(r.MaxTokens)}
	p.charges[r.Slot] = c
	p.open[e.Rank] += c.prompt + c.answer
}

// expected is how long an answer of at most most tokens will be; 0 is no bound.
func (p *LeastTokens) expected(most int) int {
	n := int(p.answer.or(float64(positive(p.Answer, 256))))
	if most > 0 {
		n = min(n, most)
	}
	return max(n, 1)
}

// Observe implements Tracker.
func (p *LeastTokens) Observe(events []Event) {
	for i := range events {
		switch v := &events[i]; v.Kind {
		case First:
			if uint(v.Slot) < uint(len(p.charges)) && p.charges[v.Slot].live {
				c := &p.charges[v.Slot]
				p.open[c.rank] -= c.prompt
				c.prompt = 0
			}
		case Finished:
			p.answer.add(float64(v.Tokens), 1.0/64)
			p.end(v.Slot)
		case Aborted:
			p.end(v.Slot)
		}
	}
}

// end takes a request's tokens off its engine, once.
func (p *LeastTokens) end(slot int) {
	if uint(slot) < uint(len(p.charges)) && p.charges[slot].live {
		c := &p.charges[slot]
		p.open[c.rank] -= c.prompt + c.answer
		*c = charge{}
	}
}

// Open is how many tokens are to do at the engine of a rank.
func (p *LeastTokens) Open(rank int) int {
	if uint(rank) < uint(len(p.open)) {
		return p.open[rank]
	}
	return 0
}

// Decided implements Decider.
func (p *LeastTokens) Decided() Decision { return Decision{"least-tokens", LeastLoad} }

// Explain implements Explainer; the scores are tokens.
func (p *LeastTokens) Explain(r Request, engines []Engine) Explanation {
	pick := *p // Pick moves nothing but the start
	x := explained(p.Decided(), 0, engines, p.score)
	x.Pick = pick.Pick(r, engines)
	return x
}
