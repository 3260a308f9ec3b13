// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"

	"github.com/corepipe/corepipe/transport"
)

// Send is the stage that gives packets to a connection. A command that cannot be
// sent fails alone; an engine that cannot be reached is dead. Packets for an
// engine whose queue is full wait here, in order, for up to FullTime, while
// others pass.
func Send(conn transport.Conn, t *Table) Sink[Routed] {
	t.sending(1) // Close waits for what is on its way
	return func(ctx context.Context, in <-chan Routed) error {
		defer t.sending(-1)
		s := sender{conn: conn, table: t, held: map[*engine]*backlog{}}
		j, end := offer(ctx, in, false, s.try)
		defer end()
		for r := range in {
			j.take()
			s.packet(r)
			s.catchUp(ctx, in, j.more)
			j.done()
		}
		return s.finish(ctx)
	}
}

// sending counts the Send stages that Close has to wait for.
func (t *Table) sending(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.senders += n
	t.notify()
}

// sender is the state of one Send stage.
type sender struct {
	conn  transport.Conn
	table *Table
	held  map[*engine]*backlog // of engines whose queue is full; usually empty
}

// try sends r unless its engine's queue is full, which is for the stage to wait for.
// What is not of a route stage, or was passed on twice, is done with.
func (s *sender) try(r Routed) (done bool, err error) {
	return r.engine == nil || r.stale() || s.send(r), nil
}

// packet sends r, or holds it behind others of its engine.
func (s *sender) packet(r Routed) {
	if b := s.held[r.engine]; b != nil && !r.stale() {
		b.packets = append(b.packets, r)
	} else if done, _ := s.try(r); !done { // it has no other error
		s.held[r.engine] = newBacklog(r)
	}
}

// send is false when the engine's queue is full.
func (s *sender) send(r Routed) bool {
	if _, abort := r.Command.(*Abort); !abort && r.engine.now() != r.epoch {
		r.release() // it was for an engine that has died since; another of its rank may be there
		r.Fail(&opError{"send", &EngineError{r.Rank, "send", ErrEngineRestarted}})
		return true
	}
	err := s.conn.Send(r.Packet)
	if errors.Is(err, transport.ErrFull) {
		return false
	}
	r.release()
	switch {
	case err == nil:
		if _, ok := r.Command.(*Add); ok {
			s.table.sent(r.engine, r.wave)
		}
	case errors.Is(err, transport.ErrUnreachable):
		s.table.unreachable(r, err)
	default:
		r.Fail(&opError{"send", &EngineError{r.Rank, "send", err}})
	}
	return true
}
