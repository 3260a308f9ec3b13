// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"container/heap"
	"time"

	"github.com/corepipe/corepipe/policy"
)

// world is one run of a trace with a policy.
type world struct {
	Fleet
	trace   Trace
	texts   []text
	engines []*engine
	client  *client
	count   *count

	now    time.Duration
	agenda agenda
	agreed int // how many happenings so far
	given  []*run
}

func newWorld(f Fleet, t Trace, texts []text, names int, p policy.Policy) *world {
	w := &world{Fleet: f, trace: t, texts: texts}
	for rank := range f.Engines {
		w.engines = append(w.engines, newEngine(rank, f.Model, f.Speeds[rank%len(f.Speeds)], names))
	}
	w.client = newClient(p, w)
	w.count = newCount(f.Engines, t[len(t)-1].At)
	return w
}

// run goes from one happening to the next until all requests have ended.
func (w *world) run() *Result {
	w.at(w.trace[0].At, arrives, 0)
	if w.Report > 0 {
		w.at(w.Report, reports, 0)
	}
	if w.Dies > 0 {
		w.at(w.Dies, dies, 0)
	}
	if w.Returns > 0 {
		w.at(w.Returns, returns, 0)
	}
	for w.count.ended < len(w.trace) {
		h := heap.Pop(&w.agenda).(happening)
		w.now = h.at
		w.happen(h)
	}
	return w.result()
}

func (w *world) happen(h happening) {
	switch h.kind {
	case arrives:
		w.arrive(h.n)
	case steps:
		if e := w.engines[h.n]; e.lives == h.life {
			w.stepped(e)
		}
	case reports:
		w.client.report(w.now)
		if next := w.now + w.Report; w.Silent == 0 || next < w.Silent {
			w.at(next, reports, 0)
		}
	case dies:
		w.die(w.engines[0])
	case returns:
		w.engines[0].dead = false
	}
}

// arrive routes the i-th request and sees to the next one.
func (w *world) arrive(i int) {
	if i+1 < len(w.trace) {
		w.at(w.trace[i+1].At, arrives, i+1)
	}
	r := &run{Request: &w.trace[i], text: w.texts[i]}
	e := w.client.choose(r, i)
	if e == nil {
		w.count.fail()
		return
	}
	r.engine = e
	w.count.routed(w.now, e.rank)
	if !w.Model.fits(r.Prompt + r.Output) {
		w.client.tell(policy.First, r) // refused, with an output that says so
		w.end(r, policy.Aborted)
		w.count.fail()
		return
	}
	e.inbox = append(e.inbox, r)
	w.step(e)
}

// step begins a step of e, if there is anything to do.
func (w *world) step(e *engine) {
	if e.busy {
		return
	}
	if took := e.step(); took > 0 {
		w.count.worked(w.now, e.rank, took)
		w.at(w.now+took, steps, e.rank)
	}
}

// stepped hands over what a step gave and begins the next one.
func (w *world) stepped(e *engine) {
	w.given = e.stepped(w.given[:0])
	w.count.gave(w.now, len(w.given))
	for _, r := range w.given {
		if r.done == 1 {
			w.client.tell(policy.First, r)
			w.count.first(w.now - r.At)
		}
		if r.done == r.Output {
			w.end(r, policy.Finished)
			w.count.done(w.now - r.At)
		}
	}
	w.client.heard(e, len(e.waiting)) // what came meanwhile it has not seen yet
	w.step(e)
}

// end takes r off its engine.
func (w *world) end(r *run, k policy.Kind) {
	w.client.end(k, r)
	w.count.left(w.now, r.engine.rank)
}

func (w *world) die(e *engine) {
	for _, r := range e.die() {
		w.end(r, policy.Aborted)
		w.count.fail()
	}
	w.client.gone(e)
}

// happening is something that is going to happen.
type happening struct {
	at      time.Duration
	agreed  int // the order of those at the same time
	kind    kind
	n, life int // of the trace or the engines; which life of the engine
}

type kind uint8

const (
	arrives kind = iota
	steps
	reports
	dies
	returns
)

func (w *world) at(t time.Duration, k kind, n int) {
	h := happening{at: t, agreed: w.agreed, kind: k, n: n}
	if k == steps {
		h.life = w.engines[n].lives
	}
	w.agreed++
	heap.Push(&w.agenda, h)
}

// agenda is a heap, the next happening first.
type agenda []happening

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].agreed < a[j].agreed
}

// Push implements heap.Interface.
func (a *agenda) Push(x any) { *a = append(*a, x.(happening)) }

// Pop implements heap.Interface.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	h := (*a)[last]
	*a = (*a)[:last]
	return h
}
