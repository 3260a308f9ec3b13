// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// ErrCoordinators says that two different coordinator addresses are named.
var ErrCoordinators = errors.New("pipeline: two different coordinator addresses")

// coordination is the client's side of a data-parallel coordinator (vLLM:
// DPAsyncMPClient): the wave that it believes in, whether the engines run, and
// the connection on which it says that a request has come while they rest.
type coordination struct {
	lockstep bool // fixed

	mu      sync.Mutex // guards what follows
	conn    transport.Conn
	wave    int
	running bool
	heardAt time.Time // the last report with rows, or the start
}

// stamp is the wave to send a request with.
func (c *coordination) stamp() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wave
}

// sent follows a request that went out: while the engines rest, the coordinator is
// told to wake the others. Since 0.33.0 engines do so themselves. wave is the one
// that the request was stamped with, so that an engine whose request came late is
// woken too.
func (c *coordination) sent(e *engine, wave int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running || c.conn != nil && !e.layout.Load().FirstRequest() {
		return nil
	}
	if c.conn == nil {
		c.running = c.lockstep
		return nil
	}
	// By its identity, as vLLM says it, an engine is not left out in effect. It must
	// not be: when its request comes to nothing, the others would wait for it.
	who := codec.Exclude{Set: true, Rank: e.rank, Identity: true}
	call := codec.CoordinatorCall{Engine: who, Wave: wave}
	err := c.conn.Send(transport.Packet{Frames: [][]byte{codec.AppendCoordinatorCall(nil, call)}, Shared: 1})
	if err == nil {
		c.running = true // until a report says otherwise
	}
	return err
}

// sent follows an add that went out.
func (t *Table) sent(e *engine, wave int) {
	if err := t.coordination.sent(e, wave); err != nil {
		t.malformed(-1, fmt.Errorf("coordinator: %w", err)) // it rests until the next request, or a report
	}
}

// silent says whether there is a coordinator of which nothing was heard for so long.
func (c *coordination) silent(limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn != nil && time.Since(c.heardAt) > limit
}

// EnginesRunning says whether the engines are in a wave, as far as is known: by
// the coordinator's last word, or because a request of ours has just been sent
// (vLLM: dp_engines_running). Without a coordinator, which only groups of ranks
// have, it says whether a request is live.
func (c *Client) EnginesRunning() bool {
	d := &c.table.coordination
	d.mu.Lock()
	alone := d.conn == nil && !d.running
	running := d.running
	d.mu.Unlock()
	if !alone {
		return running
	}
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	return len(c.table.requests) > 0
}

// coordinator opens the connection to the coordinator that the Config or the
// engines name, if any does.
func (c *Client) coordinator(ctx context.Context) error {
	address, err := c.table.coordinatorAddress(c.config.Coordinator.Front)
	if err != nil || address == "" {
		return err
	}
	conn, err := c.config.Transport.Open(ctx, transport.Socket{Pattern: transport.XSub, Endpoint: address})
	if err != nil {
		return fmt.Errorf("pipeline: coordinator: %w", err)
	}
	if err := conn.Send(transport.Packet{Frames: [][]byte{{1}}, Shared: 1}); err != nil { // subscribe to everything
		_ = conn.Close()
		return fmt.Errorf("pipeline: subscribe to coordinator %s: %w", address, err)
	}
	d := &c.table.coordination
	d.mu.Lock()
	d.conn, d.heardAt = conn, time.Now()
	d.mu.Unlock()
	c.beside(c.life, "coordinator", func(ctx context.Context) error {
		defer func() { _ = conn.Close() }()
		for {
			p, err := conn.Recv(ctx)
			if err != nil {
				return err
			}
			c.table.reported(p)
		}
	})
	return nil
}

// coordinatorAddress is the one that all who name one agree on.
func (t *Table) coordinatorAddress(given string) (string, error) {
	for _, e := range t.engines {
		r := e.info().Ready
		if r == nil || r.StatsAddress == "" || r.StatsAddress == given {
			continue
		}
		if given != "" {
			return "", &EngineError{e.rank, "ready", fmt.Errorf("%w: %s, and it says %s", ErrCoordinators, given, r.StatsAddress)}
		}
		given = r.StatsAddress
	}
	return given, nil
}

// reported takes what a coordinator publishes.
func (t *Table) reported(p transport.Packet) {
	if len(p.Frames) != 1 {
		t.malformed(-1, fmt.Errorf("coordinator: %d frames", len(p.Frames)))
		return
	}
	counts, err := codec.DecodeCounts(p.Frames[0])
	if err != nil {
		t.malformed(-1, fmt.Errorf("coordinator: %w", err))
		return
	}
	d := &t.coordination
	d.mu.Lock()
	d.wave, d.running = counts.Wave, counts.Running
	if counts.Rows != nil {
		d.heardAt = time.Now()
	}
	d.mu.Unlock()
	t.Report(counts.Rows)
}

// waveComplete takes a wave's end that an engine tells its client itself, because it has
// no coordinator (vLLM: SyncMPClient, offline).
func (c *coordination) waveComplete(wave int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wave >= c.wave {
		c.wave, c.running = wave+1, false
	}
}
