// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/coordinator"
)

// group is lockstep engines, clients and a Core, with a queue for every way
// between them. Nothing moves by itself: whoever drives it says which queue
// delivers next, and when the engines step.
type group struct {
	core    *coordinator.Core
	engines []*rank
	clients []*frontend

	adds     [][]int // by client and engine: waves of requests on their way
	calls    [][]codec.CoordinatorCall
	wakes    [][]coordinator.Wake // by engine
	outputs  [][]said             // by engine
	publics  [][]codec.Counts     // by client
	identity bool                 // first requests name their engine as vLLM's client does
}

// rank is an engine as protocol.md 5.4 has it, without pauses.
type rank struct {
	wave, requests   int
	running, stepped bool // stepped: it ran in the last step too
}

// frontend is a client as protocol.md 5.5 has it.
type frontend struct {
	wave    int
	running bool
}

// said is what an engine tells the coordinator of wave.
type said struct {
	wave     int
	complete bool
}

func newGroup(engines, clients int) *group {
	g := &group{core: coordinator.NewCore(engines, true)}
	for range engines {
		g.core.Subscribe()
		g.engines = append(g.engines, new(rank))
	}
	for range clients {
		g.clients = append(g.clients, new(frontend))
	}
	g.adds = make([][]int, engines*clients)
	g.calls = make([][]codec.CoordinatorCall, clients)
	g.publics = make([][]codec.Counts, clients)
	g.wakes = make([][]coordinator.Wake, engines)
	g.outputs = make([][]said, engines)
	return g
}

// submit lets a client send a request to an engine.
func (g *group) submit(client, engine int) {
	c := g.clients[client]
	i := client*len(g.engines) + engine
	g.adds[i] = append(g.adds[i], c.wave)
	if !c.running {
		x := codec.ExcludeRank(engine)
		x.Identity = g.identity
		g.calls[client] = append(g.calls[client], codec.CoordinatorCall{Engine: x, Wave: c.wave})
		c.running = true
	}
}

// pop takes the first of a queue.
func pop[T any](queue *[]T) (v T, ok bool) {
	if len(*queue) == 0 {
		return v, false
	}
	v = (*queue)[0]
	*queue = (*queue)[1:]
	return v, true
}

// deliver moves the first of queue i of all queues; false when it is empty.
func (g *group) deliver(i int) bool {
	if i < len(g.adds) {
		wave, ok := pop(&g.adds[i])
		return ok && g.add(i%len(g.engines), wave)
	}
	i -= len(g.adds)
	if i < len(g.calls) {
		call, ok := pop(&g.calls[i])
		if wake, send := g.core.FirstRequest(call.Engine, call.Wave); ok && send {
			g.wake(wake)
		}
		return ok
	}
	i -= len(g.calls)
	if i < len(g.publics) {
		c, ok := pop(&g.publics[i])
		if ok {
			g.clients[i].wave, g.clients[i].running = c.Wave, c.Running
		}
		return ok
	}
	i -= len(g.publics)
	if i < len(g.wakes) {
		w, ok := pop(&g.wakes[i])
		return ok && g.woken(i, w)
	}
	i -= len(g.wakes)
	o, ok := pop(&g.outputs[i])
	return ok && g.output(i, o)
}

// queues is how many there are.
func (g *group) queues() int {
	return len(g.adds) + len(g.calls) + len(g.publics) + len(g.wakes) + len(g.outputs)
}

// add is a request's arrival.
func (g *group) add(engine, wave int) bool {
	e := g.engines[engine]
	e.requests++
	if wave > e.wave {
		e.wave = wave
	} else if wave < e.wave && !e.running {
		g.outputs[engine] = append(g.outputs[engine], said{wave: e.wave})
	}
	e.running = true
	return true
}

func (g *group) woken(engine int, w coordinator.Wake) bool {
	e := g.engines[engine]
	left := w.Exclude.Set && !w.Exclude.Identity && w.Exclude.Rank == engine
	if !left && w.Wave >= e.wave {
		e.wave, e.running = w.Wave, true
	}
	return true
}

// output is an engine's word at the coordinator.
func (g *group) output(engine int, o said) bool {
	if o.complete {
		if g.core.WaveComplete(o.wave) {
			g.publish(g.core.Waves())
		}
	} else if wake, ok := g.core.WaveStarted(o.wave, engine); ok {
		g.wake(wake)
		g.publish(g.core.Waves())
	}
	return true
}

func (g *group) wake(w coordinator.Wake) {
	for i := range g.wakes {
		g.wakes[i] = append(g.wakes[i], w)
	}
}

// publish sends to all clients.
func (g *group) publish(c codec.Counts) {
	for i := range g.publics {
		g.publics[i] = append(g.publics[i], c)
	}
}

// step lets the engines run a step and agree on whether work is left, which
// takes all of them: one that sleeps holds the others up. False when one does.
// An engine with finish set ends one request in the step.
func (g *group) step(finish func(engine int) bool) bool {
	for _, e := range g.engines {
		if !e.running {
			return false
		}
	}
	left := 0
	for i, e := range g.engines {
		if e.requests > 0 && finish(i) {
			e.requests--
		}
		left += e.requests
	}
	zero := g.engines[0]
	switch {
	case left == 0:
		g.outputs[0] = append(g.outputs[0], said{wave: zero.wave, complete: true})
	case !zero.stepped:
		g.outputs[0] = append(g.outputs[0], said{wave: zero.wave})
	}
	for _, e := range g.engines {
		e.stepped = left > 0
		if left == 0 {
			e.running = false
			e.wave++
		}
	}
	return true
}
