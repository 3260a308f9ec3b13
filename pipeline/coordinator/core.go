// SPDX-License-Identifier: Apache-2.0

package coordinator

import "github.com/corepipe/corepipe/codec"

// Core is a coordinator without sockets and clock: what it knows, and what it
// says to what it hears. Coordinator runs one over a transport; a simulation in
// virtual time may call one itself. Make one with NewCore; it is for one
// goroutine at a time.
type Core struct {
	lockstep   bool
	subscribed int  // engines listening now
	ready      bool // all were there once
	left       bool // one left since the last that came

	// Waves, which exist in lockstep alone.
	wave    int
	running bool

	// Loads; see report.go.
	engines []engine
	newest  clock // the latest step of any engine
	changed bool  // loads are newer than what was published
	closed  []codec.CountsRow
}

// engine is what is known of one rank.
type engine struct {
	row  codec.CountsRow
	last clock
}

// NewCore makes a coordinator of engines ranks, 0 to engines-1, that sleep in
// wave 0. Lockstep is for ranks that step together, as a mixture-of-experts
// model's do; without it there are no waves and steps have no meaning. vLLM:
// enable_wave_coordination.
func NewCore(engines int, lockstep bool) *Core {
	c := &Core{lockstep: lockstep, newest: never}
	c.Scale(engines)
	return c
}

// Subscribe notes that an engine listens. True asks for READY to all engines:
// when the last one of all has come, and for each one that comes later. Before
// the first READY nothing else may be sent to engines: they do not survive it.
//
// One that comes later may be a rank that was started again and counts its steps
// anew, so what was known of steps is forgotten.
func (c *Core) Subscribe() (ready bool) {
	c.subscribed++
	if !c.ready {
		c.ready = c.subscribed >= len(c.engines)
		return c.ready
	}
	for i := range c.engines {
		c.engines[i].last = never
	}
	if c.left {
		c.newest, c.left = never, false
	}
	return true
}

// Unsubscribe notes that an engine has gone. Its load stays as it was last told.
func (c *Core) Unsubscribe() {
	if c.subscribed > 0 {
		c.subscribed--
		c.left = true
	}
}

// Ready reports whether all engines have been there.
func (c *Core) Ready() bool { return c.ready }

// Scale sets the number of ranks: new ones have no load, ranks beyond the new
// number are forgotten. Waves go on. vLLM: SCALE_ELASTIC_EP.
func (c *Core) Scale(engines int) {
	engines = max(engines, 0)
	c.engines = c.engines[:min(engines, len(c.engines))]
	for len(c.engines) < engines {
		c.engines = append(c.engines, engine{last: never})
	}
}

// State is a copy of what a coordinator knows.
type State struct {
	// Ready says that all engines have subscribed; until then reports and
	// requests wait.
	Ready bool
	// Subscribed are the engines that listen now.
	Subscribed int
	// Wave is the one that engines are in, or will start next. vLLM: current_wave.
	Wave int
	// Running says that an engine has told so. vLLM: engines_running.
	Running bool
	// Loads has what each engine said last, in rank order.
	Loads []codec.CountsRow
}

// State copies it all, at a cost that grows with the engines.
func (c *Core) State() State {
	return State{Ready: c.ready, Subscribed: c.subscribed, Wave: c.wave, Running: c.running, Loads: c.rows()}
}
