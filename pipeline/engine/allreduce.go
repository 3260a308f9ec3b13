// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"time"
)

// allReduce is where the ranks of a lockstep group meet in every step, as GPUs do
// in the collectives of a mixture-of-experts model. Ranks may come from any
// goroutine, each once a step.
type allReduce struct {
	size     int
	interval int

	mu   sync.Mutex // guards open and what is in it
	open *round     // nil: nobody has come yet
}

// round is one meeting. What is in it is fixed when met is closed.
type round struct {
	met        chan struct{}
	came       int
	took       time.Duration // of the slowest
	busy       bool          // somebody did more than a dummy step
	unfinished bool          // somebody has work left
	pausing    int           // how many were told to pause
}

// vote is what one rank brings.
type vote struct {
	took                      time.Duration
	busy, unfinished, pausing bool
}

// idleStep is what a step takes at least in which no rank did anything, so that a
// group whose requests are held up does not spin.
const idleStep = time.Millisecond

// join comes to the meeting of this step.
func (a *allReduce) join(v vote) *round {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = &round{met: make(chan struct{})} // not before: it belongs to the bubble of who waits
	}
	r := a.open
	r.came++
	r.took = max(r.took, v.took)
	r.busy = r.busy || v.busy
	r.unfinished = r.unfinished || v.unfinished
	if v.pausing {
		r.pausing++
	}
	if r.came == a.size {
		if !r.busy {
			r.took = max(r.took, idleStep)
		}
		a.open = nil
		close(r.met)
	}
	return r
}
