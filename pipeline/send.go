// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"

	"github.com/corepipe/corepipe/transport"
)

// Send is the stage that gives packets to a connection. A command that cannot be
// sent fails alone; an engine that cannot be reached is dead.
func Send(conn transport.Conn, t *Table) Sink[Routed] {
	t.senders.Add(1) // Close waits for what is on its way
	return func(_ context.Context, in <-chan Routed) error {
		defer t.senders.Done()
		for r := range in {
			err := conn.Send(r.Packet)
			r.release()
			switch {
			case err == nil:
			case errors.Is(err, transport.ErrUnreachable):
				t.unreachable(r.engine, r.Command, err)
			default:
				r.Fail(&opError{"send", &EngineError{r.Rank, "send", err}})
			}
		}
		return nil
	}
}
