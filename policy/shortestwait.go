// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// ShortestWait takes the engine from which it expects the first output soonest.
// Use it where the time to the first token counts, most of all with prompts of
// unequal length, bursts, or engines of unequal speed. It needs its Tracker calls;
// load reports only tell it of other front ends, so that old ones cost it nothing.
//
// It reckons the wait at an engine in tokens of prompt,
//
//	slowness · (2048 + prompts + mean prompt · pending + 32 · decoding)
//
// where pending are the requests on it without an output, prompts their tokens and
// those of the request to route, and decoding the other ones. A step's fixed cost
// counts as 2048 tokens, a decoded token as 32: both are more than they cost, so
// that the errors of what is learnt move little at light load. The second time
// that pending counts is for engines whose batch is full, where a request waits
// for ends of answers. Where the oldest pending one has waited for as long as 64
// tokens of an answer take, the batch is full for sure, and each of pending counts
// as a mean prompt, whatever its own.
//
// Slowness is learnt: the time from one token to the next, at this engine over at
// all of them, in the last hundred answers or so (of answers of one token, the time
// to it over the wait in tokens). It starts at 1, and a tenth more or less counts
// as 1, so that engines that are alike are treated alike. It fades back, by half
// in some 30 s without new answers, so that an engine that was slow is tried again.
// An engine whose oldest pending request has waited more than four times as long as
// expected counts as slower by as much as it is beyond that, at once.
//
// The zero value is ready for use. There are no knobs. It takes no notice of
// Engine.Weight: what an engine can do shows.
type ShortestWait struct {
	start   int
	queues  []queue // by rank
	waits   []wait  // by slot
	prompt  ewma    // tokens of a prompt
	pace    ewma    // time between two tokens of an answer
	scale   ewma    // time of a token of wait
	degrade bool    // the last Pick had to do without a report that it wanted
}

// The model's constants, in tokens of prompt.
const (
	stepCost   = 2048
	decodeCost = 32
)

// When the oldest pending request says something about its engine.
const (
	fullAfter = 64 // tokens' time of waiting: the batch is full
	lateAfter = 4  // times as long as expected: the engine is slower than what was learnt
)

// How slowness is learnt.
const (
	slowBand  = 0.1       // a difference from the mean that is taken for chance
	slowStep  = 1.0 / 128 // the share of a new answer
	fleetStep = 1.0 / 256 // the same for what all engines have in common
	slowPrior = 8         // how many answers as fast as the mean are assumed to have been
	slowMost  = 9         // no answer counts as slower than that many times the mean
	slowFade  = 30 * time.Second
)

// Pick costs one pass over engines.
func (p *ShortestWait) Pick(r Request, engines []Engine) int {
	n := len(engines)
	start := p.start % n
	best, least := -1, 0.0
	p.degrade = false
	p.refresh(engines[start].Rank, r.Now)
	for k := range n {
		i := start + k
		if i >= n {
			i -= n
		}
		e := &engines[i]
		p.degrade = p.degrade || e.Stale && r.Clients > 1
		if s := p.expect(&r, e); best < 0 || s < least {
			best, least = i, s
		}
	}
	p.start = best + 1
	return best
}

// expect is the wait of r at e.
func (p *ShortestWait) expect(r *Request, e *Engine) float64 {
	var q *queue
	w := float64(max(r.Prompt, 0))
	if uint(e.Rank) < uint(len(p.queues)) {
		q = &p.queues[e.Rank]
		w += q.work
	} else {
		q, w = &queue{}, w+stepCost // it had no request yet
	}
	if r.Clients > 1 {
		w += p.others(r, e)
	}
	if q.oldest != 0 && r.Now > q.alarm {
		w = p.late(q, w, float64(r.Now-q.oldestAt))
	}
	return w * (1 + q.excess)
}

// work is what the requests of an engine of mean speed mean for one more, in tokens.
func (p *ShortestWait) work(q *queue, prompts float64) float64 {
	return stepCost + prompts + p.prompt.mean*float64(q.pending) + decodeCost*float64(q.decoding)
}

// late is what becomes of a wait of w when the oldest request has waited for age.
func (p *ShortestWait) late(q *queue, w, age float64) float64 {
	if p.pace.mean > 0 && age > fullAfter*p.pace.mean {
		w += p.prompt.mean*float64(q.pending) - float64(q.prompts)
	}
	if due := lateAfter * q.oldestWait * p.scale.mean; due > 0 && age > due {
		w *= age / due
	}
	return w
}

// others is the part of the wait that is due to other front ends' requests.
func (p *ShortestWait) others(r *Request, e *Engine) float64 {
	all := e.Waiting + e.Running
	if e.Stale || all <= e.InFlight {
		return 0
	}
	share := float64(all-e.InFlight) / float64(all)
	return share * (2*p.prompt.mean*float64(e.Waiting) + decodeCost*float64(e.Running))
}

// Decided implements Decider.
func (p *ShortestWait) Decided() Decision {
	if p.degrade {
		return Decision{"shortest-wait", Degraded}
	}
	return Decision{"shortest-wait", LeastLoad}
}

// Explain implements Explainer; the scores are tokens of prompt at an engine of
// mean speed.
func (p *ShortestWait) Explain(r Request, engines []Engine) Explanation {
	p.refresh(engines[p.start%len(engines)].Rank, r.Now) // as the next Pick would, to the same effect
	d := Decision{"shortest-wait", LeastLoad}
	if r.Clients > 1 {
		d.Reason = freshness(engines)
	}
	return explained(d, p.start, engines, func(e *Engine) float64 { return p.expect(&r, e) })
}

// Slowness is what has been learnt of the engine of a rank: how many times the
// mean time it takes for a token.
func (p *ShortestWait) Slowness(rank int) float64 {
	if uint(rank) < uint(len(p.queues)) {
		return p.queues[rank].slow()
	}
	return 1
}
