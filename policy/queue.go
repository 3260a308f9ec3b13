// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// queue is what ShortestWait knows of one engine.
type queue struct {
	work   float64       // see ShortestWait.work; kept up with what follows
	excess float64       // slowness - 1, as of the last fade
	alarm  time.Duration // from then on the oldest request is late
	oldest int32         // pending requests in order of routing: slot + 1; 0 is none
	newest int32

	pending  int // requests without an output
	prompts  int // their prompt tokens
	decoding int // the other requests

	over    float64       // sum of slowness - 1 of answers, fading
	answers float64       // how many, fading as much
	heard   time.Duration // when the last one ended

	oldestAt   time.Duration
	oldestWait float64 // as it was expected
}

// wait is a live request.
type wait struct {
	live, first  bool
	rank         int32
	older, newer int32 // neighbours in the queue: slot + 1
	prompt       int
	tokens       int     // of its first output
	expected     float64 // wait in tokens, with the slowness
	at, firstAt  time.Duration
}

// slow is how many times as long as the mean the engine takes.
func (q *queue) slow() float64 { return 1 + q.excess }

// refresh lets what was learnt of one engine fade. Each choice does so for
// another one, which costs less than for all.
func (p *ShortestWait) refresh(rank int, now time.Duration) {
	if uint(rank) < uint(len(p.queues)) {
		p.queues[rank].fade(now)
	}
}

// fade sets the excess as of now.
func (q *queue) fade(now time.Duration) {
	if q.answers != 0 {
		f := float64(slowFade) / float64(slowFade+max(now-q.heard, 0))
		x := q.over * f / (q.answers*f + slowPrior)
		q.excess = x - min(max(x, -slowBand), slowBand)
	}
}

// learn takes in how an answer took against the mean.
func (q *queue) learn(ratio float64, now time.Duration) {
	q.over = (q.over + min(max(ratio, 0), slowMost) - 1) * (1 - slowStep)
	q.answers = (q.answers + 1) * (1 - slowStep)
	q.heard = now
	q.fade(now)
}

// Routed implements Tracker.
func (p *ShortestWait) Routed(r Request, e Engine) {
	if !usable(r.Slot) || !usable(e.Rank) {
		return
	}
	for len(p.queues) <= e.Rank {
		p.queues = append(p.queues, queue{work: stepCost})
	}
	p.waits = grown(p.waits, r.Slot)
	p.leave(r.Slot)
	prompt := max(r.Prompt, 0)
	q, w := &p.queues[e.Rank], &p.waits[r.Slot]
	*w = wait{live: true, rank: int32(e.Rank), older: q.newest, prompt: prompt, at: r.Now}
	w.expected = q.slow() * p.work(q, float64(q.prompts+prompt))
	p.prompt.add(float64(prompt), fleetStep)
	q.pending++
	q.prompts += prompt
	q.newest = int32(r.Slot) + 1
	if w.older == 0 {
		p.lead(q, q.newest)
	} else {
		p.waits[w.older-1].newer = q.newest
	}
	p.settle(q)
}

// settle keeps work up with a change of the queue.
func (p *ShortestWait) settle(q *queue) { q.work = p.work(q, float64(q.prompts)) }

// lead makes a request the oldest of its queue.
func (p *ShortestWait) lead(q *queue, oldest int32) {
	q.oldest = oldest
	if oldest != 0 {
		w := &p.waits[oldest-1]
		q.oldestAt, q.oldestWait = w.at, w.expected
		q.alarm = w.at + time.Duration(min(lateAfter*w.expected*p.scale.mean, fullAfter*p.pace.mean))
	}
}

// Observe implements Tracker.
func (p *ShortestWait) Observe(events []Event) {
	for i := range events {
		v := &events[i]
		if v.Kind == Gone {
			if uint(v.Rank) < uint(len(p.queues)) {
				q := &p.queues[v.Rank]
				q.over, q.answers, q.excess = 0, 0, 0 // what starts in its place may be another machine
			}
			continue
		}
		if uint(v.Slot) >= uint(len(p.waits)) || !p.waits[v.Slot].live {
			continue
		}
		switch v.Kind {
		case First:
			p.begin(v)
		case Finished:
			p.begin(v)
			p.finish(v)
			p.leave(v.Slot)
		case Aborted:
			p.leave(v.Slot)
		}
	}
}

// begin notes a first output, once.
func (p *ShortestWait) begin(v *Event) {
	w := &p.waits[v.Slot]
	if w.first {
		return
	}
	p.scale.add(float64(v.At-w.at)/w.expected, fleetStep)
	p.served(w)
	w.first, w.firstAt, w.tokens = true, v.At, v.Tokens
	p.queues[w.rank].decoding++
	p.settle(&p.queues[w.rank])
}

// finish learns from a whole answer.
func (p *ShortestWait) finish(v *Event) {
	w := &p.waits[v.Slot]
	took, mean := &p.pace, 0.0
	if n := v.Tokens - w.tokens; n > 0 {
		mean = float64(v.At-w.firstAt) / float64(n)
		took.add(mean, fleetStep)
	} else {
		took, mean = &p.scale, float64(w.firstAt-w.at)/w.expected*p.queues[w.rank].slow()
	}
	if took.mean > 0 {
		p.queues[w.rank].learn(mean/took.mean, v.At)
	}
}

// served takes w out of its queue.
func (p *ShortestWait) served(w *wait) {
	q := &p.queues[w.rank]
	q.pending--
	q.prompts -= w.prompt
	if w.newer == 0 {
		q.newest = w.older
	} else {
		p.waits[w.newer-1].older = w.older
	}
	if w.older == 0 {
		p.lead(q, w.newer)
	} else {
		p.waits[w.older-1].newer = w.newer
	}
}

// leave forgets a request, once.
func (p *ShortestWait) leave(slot int) {
	w := &p.waits[slot]
	switch {
	case !w.live:
		return
	case w.first:
		p.queues[w.rank].decoding--
	default:
		p.served(w)
	}
	p.settle(&p.queues[w.rank])
	*w = wait{}
}

// Live is how many routed requests the engine of a rank has.
func (p *ShortestWait) Live(rank int) int {
	if uint(rank) < uint(len(p.queues)) {
		return p.queues[rank].pending + p.queues[rank].decoding
	}
	return 0
}
