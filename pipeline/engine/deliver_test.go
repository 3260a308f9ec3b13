// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"

	"github.com/corepipe/corepipe/codec"
)

// pop takes the first of a queue.
func pop[T any](queue *[]T) (v T, ok bool) {
	if len(*queue) == 0 {
		return v, false
	}
	v = (*queue)[0]
	*queue = (*queue)[1:]
	return v, true
}

// ways is how many queues there are.
func (w *world) ways() int {
	return len(w.adds) + len(w.calls) + len(w.publics) + len(w.wakes) + len(w.reports)
}

// deliver moves the first of queue i of all queues; false when it is empty, or
// waits for the end of a step.
func (w *world) deliver(i int) bool {
	if i < len(w.adds) {
		rank := i % len(w.ranks)
		return !w.busy(rank) && w.add(rank, &w.adds[i])
	}
	i -= len(w.adds)
	if i < len(w.calls) {
		call, ok := pop(&w.calls[i])
		if wake, send := w.coordinator.FirstRequest(call.Engine, call.Wave); ok && send {
			w.wake(wake)
		}
		return ok
	}
	i -= len(w.calls)
	if i < len(w.publics) {
		c, ok := pop(&w.publics[i])
		if ok {
			w.callers[i].wave, w.callers[i].running = c.Wave, c.Running
		}
		return ok
	}
	i -= len(w.publics)
	if i < len(w.wakes) {
		if w.busy(i) {
			return false
		}
		k, ok := pop(&w.wakes[i])
		if ok {
			w.ranks[i].StartWave(k.Wave, k.Exclude)
		}
		return ok
	}
	i -= len(w.wakes)
	o, ok := pop(&w.reports[i])
	if ok {
		w.told(i, o)
	}
	return ok
}

// add is a request's arrival.
func (w *world) add(rank int, q *[]add) bool {
	a, ok := pop(q)
	switch {
	case !ok:
	case a.abort:
		w.ranks[rank].Abort([]string{a.id})
	case a.refused:
		delete(w.unfinished, a.id)
	default:
		r := generate(a.id, a.tokens)
		r.CurrentWave = a.wave
		w.ranks[rank].Add(r)
		w.hear(rank)
	}
	return ok
}

// told is a rank's word at the coordinator.
func (w *world) told(rank int, o *codec.Outputs) {
	if o.WaveComplete != nil {
		if w.coordinator.WaveComplete(*o.WaveComplete) {
			w.publish(w.coordinator.Waves())
		}
	} else if wake, ok := w.coordinator.WaveStarted(*o.StartWave, rank); ok {
		w.wake(wake)
		w.publish(w.coordinator.Waves())
	}
}

// settle lets everything happen that can. The error says who is left waiting.
func (w *world) settle() error {
	for round := 0; ; round++ {
		moved := false
		for i := range w.ways() {
			for w.deliver(i) {
				moved = true
			}
		}
		for i := range w.ranks {
			moved = w.step(i) || moved
		}
		for i := range w.ranks {
			moved = w.end(i) || moved
		}
		if !moved {
			break
		}
		if round > 10000 {
			return fmt.Errorf("the engines never rest, in wave %d", w.ranks[0].Load().Wave)
		}
	}
	wave := w.ranks[0].Load().Wave
	for i, r := range w.ranks {
		if w.busy(i) || r.Load().Wave != wave {
			return fmt.Errorf("rank %d waits: %v, in wave %d; rank 0 in %d; %d unfinished requests", i, w.busy(i), r.Load().Wave, wave, len(w.unfinished))
		}
	}
	if len(w.unfinished) > 0 {
		return fmt.Errorf("%v are left and nobody waits", w.unfinished)
	}
	if s := w.coordinator.State(); s.Running || s.Wave != wave {
		return fmt.Errorf("all rest before wave %d, and the coordinator has %+v", wave, s)
	}
	return nil
}
