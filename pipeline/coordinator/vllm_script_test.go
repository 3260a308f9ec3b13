// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo && unix

package coordinator_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/zmq"
)

// line is one message of a script. What follows it waits until a coordinator
// has said all that it has to say to it.
type line struct {
	to      string // "front", "output", or "subscribe" for an engine more
	payload []byte
	wait    time.Duration
}

// Loads have been published after settled, whatever the mode, and a wave is
// told at once.
const (
	settled = 400 * time.Millisecond
	told    = 100 * time.Millisecond
)

// newScript draws what engines and clients say: loads at least every few
// lines, so that no keepalive comes at a time of its own.
func newScript(r *rand.Rand, lockstep bool) []line {
	w := &writer{Rand: r, lockstep: lockstep, engines: scriptEngines}
	for i := range 40 {
		if i%4 == 0 {
			w.loads()
			continue
		}
		switch r.IntN(10) {
		case 0, 1, 2, 3:
			w.firstRequest()
		case 4, 5:
			w.begin()
		case 6, 7:
			w.end()
		case 8:
			w.engines = 1 + r.IntN(4)
			w.client(codec.CoordinatorCall{Scale: w.engines})
		case 9:
			w.lines = append(w.lines, line{"subscribe", nil, told})
		}
	}
	return w.lines
}

// writer writes a script, and follows the wave so that what it draws is mostly
// to the point.
type writer struct {
	*rand.Rand
	lockstep      bool
	engines, step int
	wave          int
	running       bool
	lines         []line
}

// near is mostly the present wave, or one that has ended or is to come.
func (w *writer) near() int { return max(w.wave+[]int{-1, 0, 0, 0, 1}[w.IntN(5)], 0) }

func (w *writer) client(call codec.CoordinatorCall) {
	w.lines = append(w.lines, line{"front", codec.AppendCoordinatorCall(nil, call), told})
}

// firstRequest finds the engines asleep, most times.
func (w *writer) firstRequest() {
	if w.running && w.IntN(4) > 0 {
		w.end()
	}
	x := []codec.Exclude{nobody, codec.ExcludeRank(w.IntN(3)), {Set: true, Rank: w.IntN(3), Identity: true}}[w.IntN(3)]
	w.client(codec.CoordinatorCall{Engine: x, Wave: w.near()})
}

func (w *writer) begin() {
	wave := w.near()
	if wave >= w.wave {
		w.wave, w.running = wave, true
	}
	w.output(codec.Outputs{Engine: w.IntN(3), StartWave: &wave}, told)
}

func (w *writer) end() {
	wave := w.near()
	if wave >= w.wave {
		w.wave, w.running = wave+1, false
	}
	w.output(codec.Outputs{Engine: w.IntN(3), WaveComplete: &wave}, told)
}

func (w *writer) output(o codec.Outputs, wait time.Duration) {
	l, _ := codec.LayoutOf(codec.DefaultRelease)
	payload, _, err := l.AppendOutputs(nil, nil, &o)
	if err != nil {
		panic(err)
	}
	w.lines = append(w.lines, line{"output", payload, wait})
}

// loads are those of a step and, in lockstep, the next, of some engines, one of
// which may not be managed. Without lockstep the first one is published at once
// and the others together.
func (w *writer) loads() {
	steps := 1 + w.IntN(2)
	for s := range steps {
		w.step++
		for rank := range w.engines + 1 {
			last := s == steps-1 && rank == w.engines
			if w.IntN(4) == 0 && !last {
				continue
			}
			o := codec.Outputs{Engine: rank}
			if last && w.IntN(3) == 0 {
				o.WaveComplete = new(w.near()) // which is not heard either
			}
			o.SetStats(&codec.SchedulerStats{
				NumWaiting: w.IntN(1 << w.IntN(18)), NumRunning: w.IntN(300), KVCacheUsage: w.Float64(), StepCounter: w.step,
			})
			wait := settled
			if w.lockstep && !last {
				wait = 0
			}
			w.output(o, wait)
		}
	}
}

// play says the lines to the coordinator in a directory and returns what each
// subscriber heard.
func play(t *testing.T, directory string, script []line, pace time.Duration) map[string][]string {
	if !bound(t, directory) {
		return nil
	}
	p := &player{T: t, network: newZMQ(t), directory: directory, heard: map[string]*heard{}}
	a := addressesIn(directory)
	p.listen("client", a.Front, nil)
	output := p.open(transport.Socket{Pattern: transport.Push, Endpoint: a.BackOutput})
	pause(settled) // connected
	for range scriptEngines {
		p.engine()
	}
	p.heard["client"].wait(t) // the first publication
	pause(settled)
	for _, l := range script {
		switch l.to {
		case "front":
			p.send(p.heard["client"].Conn, l.payload)
		case "output":
			p.send(output, l.payload)
		case "subscribe":
			p.engine()
		}
		pause(pace * l.wait)
	}
	all := map[string][]string{}
	for name, h := range p.heard {
		all[name] = h.end()
	}
	return all
}

func pause(d time.Duration) {
	if d > 0 {
		<-time.NewTimer(d).C
	}
}

// player is the engines and the client of one coordinator.
type player struct {
	*testing.T
	network   *zmq.Transport
	directory string
	heard     map[string]*heard
}

// heard is what one of them heard, in hex.
type heard struct {
	transport.Conn
	first chan struct{}
	over  chan struct{}
	lines []string
}

func (p *player) open(s transport.Socket) transport.Conn {
	conn, err := p.network.Open(context.Background(), s)
	if err != nil {
		p.Error(err)
		return nil
	}
	p.Cleanup(func() { conn.Close() })
	return conn
}

func (p *player) engine() {
	rank := len(p.heard) - 1
	p.listen(fmt.Sprintf("engine %d", rank), addressesIn(p.directory).BackPublish, []byte(codec.Identity(rank)))
}

func (p *player) listen(name, endpoint string, identity []byte) {
	h := &heard{first: make(chan struct{}), over: make(chan struct{})}
	h.Conn = p.open(transport.Socket{Pattern: transport.XSub, Endpoint: endpoint, Identity: identity})
	p.heard[name] = h
	p.send(h.Conn, []byte{1})
	go func() { // ends with the Conn
		defer close(h.over)
		for {
			packet, err := h.Recv(context.Background())
			if err != nil {
				return
			}
			text := ""
			for _, f := range packet.Frames {
				text += hex.EncodeToString(f) + " "
			}
			if h.lines = append(h.lines, text); len(h.lines) == 1 {
				close(h.first)
			}
		}
	}()
}

func (h *heard) wait(t *testing.T) {
	select {
	case <-h.first:
	case <-time.NewTimer(10 * time.Second).C:
		t.Error("no publication in 10 s")
	}
}

func (h *heard) end() []string {
	_ = h.Close()
	<-h.over
	return h.lines
}

func (p *player) send(to transport.Conn, frame []byte) {
	if err := to.Send(transport.Packet{Frames: [][]byte{frame}, Shared: 1}); err != nil {
		p.Error(err)
	}
}
