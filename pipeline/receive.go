// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"

	"github.com/corepipe/corepipe/transport"
)

// Receive is the source of what a connection receives. It ends when the
// connection is closed.
func Receive(conn transport.Conn) Source[transport.Packet] {
	return func(ctx context.Context, out chan<- transport.Packet) error {
		for {
			p, err := conn.Recv(ctx)
			if errors.Is(err, transport.ErrClosed) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := Emit(ctx, out, p); err != nil {
				return err
			}
		}
	}
}
