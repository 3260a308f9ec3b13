// SPDX-License-Identifier: Apache-2.0

package pipeline

import "context"

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
	err := t.wait(ctx, func() bool { return len(t.requests)+len(t.calls) == 0 })
	t.abort(ErrClosed, t.all()...)
	t.failCalls(-1, ErrClosed)
	t.queue.close()
	t.senders.Wait() // what is queued is sent; a Conn never blocks
	c.stop()
	c.closeConns()
	<-c.ended
	if failed := c.group.Err(); failed != nil {
		return failed
	}
	return err
}
