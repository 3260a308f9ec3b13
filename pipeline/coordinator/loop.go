// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// loop owns the core: one goroutine hears everybody in turn and is the only one
// that sends. What it calls for an event holds mu; no Send blocks.
type loop struct {
	*Coordinator
	toClients, toEngines transport.Conn
	clients, outputs     <-chan transport.Packet

	published, heard time.Time     // loads, the last time; an engine, the last time
	skipped          *SkippedError // by this event
}

// errLost is a socket that somebody else closed.
var errLost = errors.New("connection closed by its transport")

// run is the stage. Until all engines have come it hears no one else, and what
// they say waits in the sockets: nothing may reach an engine before READY.
func (l *loop) run(ctx context.Context, engines <-chan transport.Packet) error {
	due := time.NewTimer(0)
	defer due.Stop()
	due.Stop()
	var clients, outputs <-chan transport.Packet
	for {
		var p transport.Packet
		var handle func(transport.Packet) error
		open := true
		select {
		case p, open = <-engines:
			handle = l.engine
		case p, open = <-clients:
			handle = l.client
		case p, open = <-outputs:
			handle = l.output
		case <-due.C:
			p, open, handle = l.onTime(outputs)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !open {
			return errLost
		}
		if err := l.take(p, handle); err != nil {
			return err
		}
		if l.core.Ready() {
			clients, outputs = l.clients, l.outputs
			due.Reset(time.Until(l.core.Due(l.config.Pace, l.published, l.heard)))
		}
	}
}

// onTime publishes, unless engines have to be quiet and one waits to be heard:
// what it says is of the step too.
func (l *loop) onTime(outputs <-chan transport.Packet) (p transport.Packet, open bool, handle func(transport.Packet) error) {
	if l.core.quiet() {
		select {
		case p, open = <-outputs:
			return p, open, l.output
		default:
		}
	}
	return p, true, l.publish
}

// take lets one event happen, and then calls the user's function, which may ask
// for the state.
func (l *loop) take(p transport.Packet, handle func(transport.Packet) error) error {
	err := func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		return handle(p)
	}()
	if l.skipped != nil {
		l.config.Skipped(l.skipped)
		l.skipped = nil
	}
	return err
}

// skip counts and keeps a message that is not taken.
func (l *loop) skip(socket string, count *uint64, reason error) {
	*count++
	l.skipped = &SkippedError{socket, reason}
}

// publish tells clients the loads.
func (l *loop) publish(transport.Packet) error {
	l.published = time.Now()
	l.counts.Published++
	return l.tell(l.core.Publish())
}

// tell sends counts to all clients.
func (l *loop) tell(counts codec.Counts) error {
	return l.send(l.toClients, l.config.layout.AppendCounts(nil, &counts))
}

// wake sends a start of a wave to all engines.
func (l *loop) wake(w Wake) error {
	l.counts.Wakes++
	return l.send(l.toEngines, []byte{byte(codec.StartWave)}, codec.AppendStartWave(nil, w.Wave, w.Exclude))
}

// ready tells all engines that they may begin.
func (l *loop) ready() error {
	l.counts.Ready++
	return l.send(l.toEngines, []byte("READY"))
}

// send publishes a packet. The queues have no bound: ErrFull would keep it from
// all subscribers for the sake of one.
func (l *loop) send(to transport.Conn, frames ...[]byte) error {
	return to.Send(transport.Packet{Frames: frames, Shared: len(frames)})
}
