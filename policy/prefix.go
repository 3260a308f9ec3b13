// SPDX-License-Identifier: Apache-2.0

package policy

// Prefix sends a request to the engine that has most of the beginning of its
// prompt in its KV cache, as far as can be told from what was sent where, unless
// that has too much load. Use it where prompts share long beginnings: system
// prompts, documents, conversations. It scores each engine
//
//	β · relative load − matched share of the prompt
//
// and takes the lowest, ties in turn. The share is counted in full blocks of
// tokens, of which the first 512 of a prompt count; the relative load of an engine
// is how many requests it has more than the least loaded one, over the mean plus
// 4. When no engine has a block of it, Next chooses.
//
// So an engine that has the whole prompt gets it while it is at most (mean+4)/β
// requests ahead of the least loaded one: with the default of 4, a quarter of the
// mean and one. Requests with the same prompt, arriving together, spread beyond
// that, and the prompt is then cached in several places.
//
// LoRA adapter and cache salt are part of the hash, as in vLLM. Memory is fixed: 24
// bytes for each of Blocks with up to 64 engines, 8 more for each further 64; the
// blocks unused longest are forgotten. Hashing adds to the cost of a choice. The zero value is ready for use; it needs its Tracker calls.
type Prefix struct {
	// Next chooses where nothing matches. Default: the engine with the least load.
	Next Policy
	// Beta is the weight of load against affinity: higher balances better, lower
	// hits the cache more often. Default 4.
	Beta float64
	// Block is the length of a block in tokens. Default 64.
	Block int
	// Blocks is about how many are remembered. Default 65,536.
	Blocks int

	rest   leastLoad
	start  int
	blocks blocks
	chain  []uint64 // of the request of the last Pick
	picked bool     // and it has not been routed yet
	slot   int      // its slot
	why    Reason   // empty: Next chose
}

// Pick costs two passes over engines and a look-up for each block.
func (p *Prefix) Pick(r Request, engines []Engine) int {
	p.chain = appendChain(p.chain[:0], &r, p.size())
	p.picked, p.slot = true, r.Slot
	most := p.blocks.match(p.chain)
	if most == 0 {
		p.why = ""
		return p.next().Pick(r, engines)
	}
	n := len(engines)
	s, start := p.scale(&r, engines, len(p.chain)), p.start%n
	best, lowest := -1, 0.0
	for k := range n {
		i := start + k
		if i >= n {
			i -= n
		}
		if x := s.score(p.blocks.of(engines[i].Rank), load(&r, &engines[i])); best < 0 || x < lowest {
			best, lowest = i, x
		}
	}
	p.start = best + 1
	p.why = p.reason(p.blocks.of(engines[best].Rank), most)
	return best
}

// reason is why an engine that has so many blocks was chosen when most were there.
func (p *Prefix) reason(has, most int) Reason {
	if has < most {
		return PrefixFull
	}
	return PrefixHit
}

// scale is what makes load and matches comparable among some engines.
type scale struct{ least, perRequest, perBlock float64 }

func (p *Prefix) scale(r *Request, engines []Engine, chain int) scale {
	total, least := 0, load(r, &engines[0])
	for i := range engines {
		l := load(r, &engines[i])
		total, least = total+l, min(least, l)
	}
	beta := p.Beta
	if !(beta > 0) {
		beta = 4
	}
	return scale{float64(least), beta / (float64(total)/float64(len(engines)) + 4), 1 / float64(max(chain, 1))}
}

func (s scale) score(has, load int) float64 {
	return (float64(load)-s.least)*s.perRequest - float64(has)*s.perBlock
}

func (p *Prefix) size() int { return positive(p.Block, 64) }

func (p *Prefix) next() Policy {
	if p.Next != nil {
		return p.Next
	}
	return &p.rest
}

// Routed implements Tracker. The prompt counts as cached from now on, so that
// requests that arrive together find each other.
func (p *Prefix) Routed(r Request, e Engine) {
	routed(p.Next, r, e)
	if !usable(e.Rank) {
		return
	}
	if !p.picked || p.slot != r.Slot { // a pin
		p.chain = appendChain(p.chain[:0], &r, p.size())
	}
	p.picked = false
	p.blocks.known.reserve(positive(p.Blocks, 1<<16))
	p.blocks.hold(p.chain, e.Rank, r.Now)
}

// Observe implements Tracker. The cache of an engine that is gone is empty.
func (p *Prefix) Observe(events []Event) {
	observe(p.Next, events)
	for i := range events {
		if events[i].Kind == Gone {
			p.blocks.lose(events[i].Rank)
		}
	}
}

// Reported passes fresh load on to Next.
func (p *Prefix) Reported(engines []Engine) { report(p.Next, engines) }

// Decided implements Decider.
func (p *Prefix) Decided() Decision {
	if p.why == "" {
		return decided(p.next())
	}
	return Decision{"prefix", p.why}
}

// Explain implements Explainer; a score is β · relative load − share. When nothing
// matches it is Next's.
func (p *Prefix) Explain(r Request, engines []Engine) Explanation {
	chain := appendChain(nil, &r, p.size())
	most := p.blocks.match(chain)
	if most == 0 {
		return explain(p.next(), r, engines)
	}
	s := p.scale(&r, engines, len(chain))
	x := explained(Decision{"prefix", ""}, p.start%len(engines), engines, func(e *Engine) float64 {
		return s.score(p.blocks.of(e.Rank), load(&r, e))
	})
	x.Reason = p.reason(p.blocks.of(engines[x.Pick].Rank), most)
	return x
}
