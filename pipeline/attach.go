// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/corepipe/corepipe/transport"
)

// attachRetry is how often an engine is tried that has not reconnected yet; ZeroMQ
// does so every 100 ms.
const attachRetry = 20 * time.Millisecond

// attach asks every engine a harmless question until it answers: they have said
// ready to somebody else and will not say it again.
func (c *Client) attach(ctx context.Context) error {
	for _, rank := range c.config.ranks() {
		for {
			_, err := c.table.call(ctx, "is_sleeping", nil, []int{rank})
			if !errors.Is(err, transport.ErrUnreachable) {
				if refused := (*CallError)(nil); err != nil && !errors.As(err, &refused) {
					return err
				}
				break
			}
			if err := pause(ctx, attachRetry); err != nil {
				return err
			}
		}
		e := c.table.ranks[rank]
		l, err := c.table.attached(e)
		if err != nil {
			return &EngineError{rank, "attach", err}
		}
		c.table.join(e, nil, l, c.config.Release)
	}
	return nil
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// started notes that the handshake with rank is done.
func (t *Table) started(rank int) {
	e := t.ranks[rank]
	if e == nil {
		return
	}
	e.mu.Lock()
	e.started = true
	e.mu.Unlock()
	t.mu.Lock()
	t.notify()
	t.mu.Unlock()
}

// usable says whether every engine is ready, with its handshake done where there
// is one. Table.mu is held.
func (t *Table) usable(handshake bool) (bool, error) {
	if err := errors.Join(t.broken, t.rejected); err != nil {
		return false, err
	}
	all := true
	for _, e := range t.engines {
		if err := e.death(); err != nil {
			return false, err
		}
		all = all && e.usable(handshake)
	}
	return all, nil
}
