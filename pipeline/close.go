// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"time"
)

// flushTime bounds how long Close waits for what is queued to be sent. A Conn
// never blocks, so only a Wire that does not run its Send takes it.
const flushTime = time.Second

// Close ends the Client: it refuses new requests, waits for the live ones and
// for calls until ctx ends, aborts the rest with ErrClosed, and gives the
// addresses back. A second Close waits for the first. The error is the failure
// of the pipeline, or ctx's cause when requests had to be aborted.
func (c *Client) Close(ctx context.Context) error {
	c.closing.Do(func() {
		defer close(c.closed)
		c.err = c.close(ctx)
	})
	<-c.closed
	return c.err
}

func (c *Client) close(ctx context.Context) error {
	t := c.table
	t.refuse(ErrClosed)
	c.shut()
	err := t.wait(ctx, func() bool { return len(t.requests)+len(t.calls) == 0 })
	t.abort(ErrClosed, t.all()...)
	t.failCalls(ErrClosed)
	t.queue.close()
	c.flush()
	c.stop()
	c.closeConns()
	c.group.Cancel(ErrClosed) // for sources of the user's that know no other end
	<-c.ended
	if failed := c.group.Err(); failed != nil {
		return failed
	}
	return err
}

// flush waits until the Send stages have returned, which they do when all that was
// queued is sent.
func (c *Client) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	_ = c.table.wait(ctx, func() bool { return c.table.senders == 0 }) // too late is what it is
}
