// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/pipeline/engine"
)

// world is clients, a coordinator and a lockstep group in one goroutine, with a
// queue for every way between two of them. Nothing moves by itself: whoever drives
// it says what happens next. Time is what steps take.
type world struct {
	coordinator *coordinator.Core
	ranks       []*engine.Rank
	callers     []*caller
	layout      *codec.Layout
	lose        string // what never arrives, for a world that is broken

	adds    [][]add // by client and rank, on their way
	calls   [][]codec.CoordinatorCall
	publics [][]codec.Counts     // by client
	wakes   [][]coordinator.Wake // by rank
	reports [][]*codec.Outputs   // by rank

	made       int
	unfinished map[string]bool
	now        time.Duration
}

// caller is a client as protocol.md 5.5 has it.
type caller struct {
	wave    int
	running bool
}

// add is a request, or the abort of it.
type add struct {
	id      string
	wave    int
	tokens  int
	refused bool // its engine answers it with an error
	abort   bool
}

func newWorld(release string, ranks, callers, interval int) *world {
	layout, err := codec.LayoutOf(release)
	if err != nil {
		panic(err)
	}
	w := &world{coordinator: coordinator.NewCore(ranks, true), layout: layout, unfinished: map[string]bool{}}
	cores := make([]engine.Core, ranks)
	for i := range cores {
		cores[i] = &engine.Sim{StepTime: time.Millisecond, NoStats: true}
		w.coordinator.Subscribe()
	}
	w.ranks = engine.NewLockstep(interval, cores...)
	for _, r := range w.ranks {
		r.Coordinate(layout)
	}
	for range callers {
		w.callers = append(w.callers, new(caller))
	}
	w.adds = make([][]add, ranks*callers)
	w.calls, w.publics = make([][]codec.CoordinatorCall, callers), make([][]codec.Counts, callers)
	w.wakes, w.reports = make([][]coordinator.Wake, ranks), make([][]*codec.Outputs, ranks)
	return w
}

// submit has a client send a request to a rank; after it goes a first request, if
// the client believes that the engines rest. whole names the rank as vLLM's client
// does, by its identity.
func (w *world) submit(client, rank int, a add, whole bool) {
	c := w.callers[client]
	a.id, a.wave = fmt.Sprintf("r%d", w.made), c.wave
	w.made++
	w.unfinished[a.id] = !a.refused
	w.adds[client*len(w.ranks)+rank] = append(w.adds[client*len(w.ranks)+rank], a)
	if !c.running && w.layout.FirstRequest() {
		if x := codec.ExcludeRank(rank); w.lose != "first request" {
			x.Identity = whole
			w.calls[client] = append(w.calls[client], codec.CoordinatorCall{Engine: x, Wave: c.wave})
		}
		c.running = true
	}
}

// abort has a client take its last request to a rank back, if it is on its way.
func (w *world) abort(client, rank int) {
	q := &w.adds[client*len(w.ranks)+rank]
	if n := len(*q); n > 0 && !(*q)[n-1].abort {
		id := (*q)[n-1].id
		delete(w.unfinished, id)
		*q = append(*q, add{id: id, abort: true})
	}
}

// busy says that a rank is in a step: its messages wait.
func (w *world) busy(rank int) bool { return w.ranks[rank].Met() != nil }

// step begins a rank's step; false when it is in one or has nothing to do.
func (w *world) step(rank int) bool {
	if w.busy(rank) {
		return false
	}
	o, _ := w.ranks[rank].Step(w.now)
	if o != nil {
		for _, row := range o.Rows {
			if row.Finish != codec.FinishNone {
				delete(w.unfinished, string(row.ID))
			}
		}
	}
	return w.busy(rank)
}

// end ends a rank's step; false when others have not come to it.
func (w *world) end(rank int) bool {
	r := w.ranks[rank]
	select {
	case <-r.Met(): // never, where there is none
		w.now += r.Took()
		r.End()
		w.hear(rank)
		return true
	default:
		return false
	}
}

// hear takes what a rank has to tell, which is on its way then.
func (w *world) hear(rank int) {
	for o := w.ranks[rank].News(); o != nil; o = w.ranks[rank].News() {
		if w.lose == "start" && o.StartWave != nil || w.lose == "complete" && o.WaveComplete != nil {
			continue
		}
		w.reports[rank] = append(w.reports[rank], o)
	}
}

// publish sends to all clients.
func (w *world) publish(c codec.Counts) {
	for i := range w.publics {
		w.publics[i] = append(w.publics[i], c)
	}
}

func (w *world) wake(k coordinator.Wake) {
	for i := range w.wakes {
		if w.lose != "wake" {
			w.wakes[i] = append(w.wakes[i], k)
		}
	}
}
