// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// Connect binds the Client's addresses, starts its pipeline and waits until every
// engine is ready. ctx covers connecting only. A failure gives everything back;
// it is a *ConfigError, a *transport.AddressError, or a *ConnectError that lists
// the ranks that are ready and those that are missing.
func Connect(ctx context.Context, config Config) (*Client, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{
		config: config, room: semaphore.NewWeighted(int64(config.MaxInFlight)),
		ended: make(chan struct{}), closed: make(chan struct{}),
	}
	c.vacate = func() { c.room.Release(1) }
	c.table, err = NewTable(TableConfig{
		Ranks: config.ranks(), Release: config.Release, Lockstep: config.Lockstep,
		StaleAfter: config.StaleAfter, ClientIndex: config.ClientIndex, ClientCount: config.ClientCount, StreamInterval: config.StreamInterval, Observer: config.Observer,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, config.ConnectTimeout, errTimeout)
	defer cancel()
	if err := c.bind(ctx); err != nil {
		c.closeConns()
		return nil, err
	}
	c.open, c.shut = context.WithCancel(context.Background())
	c.start()
	began := time.Now()
	err = c.await(ctx)
	if err == nil {
		err = c.coordinator(ctx)
	}
	if err == nil {
		return c, nil
	}
	err = c.connectError(err, time.Since(began))
	gone, now := context.WithCancel(context.Background())
	now()
	_ = c.Close(gone) // err says more
	return nil, err
}

var errTimeout = errors.New("timed out")

// bind opens the input and the output connections.
func (c *Client) bind(ctx context.Context) (err error) {
	f := c.config
	names, err := newNames(f.Bind)
	if err != nil {
		return err
	}
	open := func(p transport.Pattern, given, name string) (transport.Conn, error) {
		if given == "" {
			given = names.address(name)
		}
		return f.Transport.Open(ctx, transport.Socket{Pattern: p, Endpoint: given, Bind: true, Handover: p == transport.Router})
	}
	if c.input, err = open(transport.Router, f.Input, "in"); err != nil {
		return fmt.Errorf("pipeline: bind input: %w", err)
	}
	ranks := f.ranks()
	if f.Output != "" && len(ranks) > 1 || f.Launch == nil {
		ranks = []int{-1}
	}
	if len(ranks) == 1 && f.Engines == 1 {
		ranks[0] = f.FirstRank
	}
	for _, rank := range ranks {
		conn, err := open(transport.Pull, f.Output, fmt.Sprintf("out%d", max(rank, 0)))
		if err != nil {
			return fmt.Errorf("pipeline: bind output: %w", err)
		}
		c.outputs = append(c.outputs, Output{Conn: conn, Rank: rank})
	}
	return nil
}

// start joins and runs the pipeline, the launcher and the watch.
func (c *Client) start() {
	c.life, c.stop = context.WithCancel(context.Background())
	c.group = NewGroup(context.Background())
	c.config.Wire(c.group, Parts{
		Commands: c.table.Commands, Policy: c.config.Policy, Table: c.table,
		Input: c.input, Outputs: c.outputs, Buffer: c.config.Buffer,
	})
	c.beside(c.life, "launch", c.launch)
	c.beside(c.life, "watch", c.watch)
	go func() { // ends with the pipeline, which Close waits for
		defer close(c.ended)
		err := c.group.Wait()
		if err == nil {
			err = ErrClosed
		}
		c.table.breakDown(err)
		c.stop()
		c.closeConns()
	}()
}

// beside runs f in the group until ctx or the group ends. Ending is no failure.
func (c *Client) beside(ctx context.Context, name string, f func(context.Context) error) {
	c.group.run(name, func() error {
		both, cancel := context.WithCancel(ctx)
		defer context.AfterFunc(c.group.ctx, cancel)()
		defer cancel()
		if err := f(both); err != nil && both.Err() == nil {
			return err
		}
		return nil
	}, func() {})
}

// launch runs the launcher, if there is one.
func (c *Client) launch(ctx context.Context) error {
	if c.config.Launch == nil {
		return nil
	}
	return c.config.Launch.Launch(ctx, Launch{
		Transport: c.config.Transport,
		Ranks:     c.config.ranks(),
		Init: func(rank int) *codec.Init {
			a := c.config.Coordinator
			init := &codec.Init{CoordinatorInput: a.BackPublish, CoordinatorOutput: a.BackOutput, StatsAddress: a.Front}
			if e := c.table.ranks[rank]; e != nil {
				init.Inputs = []string{c.input.Endpoint()}
				init.Outputs = []string{c.output(e.index).Conn.Endpoint()}
			}
			return init
		},
		InUse:   c.table.inUse,
		Started: c.table.started,
		Failed:  func(rank int, err error) { c.table.reject(&EngineError{rank, "handshake", err}) },
	})
}

// await returns when every engine is ready.
func (c *Client) await(ctx context.Context) error {
	if c.config.Attach {
		return c.attach(ctx)
	}
	var err error
	if waited := c.table.wait(ctx, func() (done bool) {
		done, err = c.table.usable(c.config.Launch != nil)
		return done || err != nil
	}); waited != nil {
		return waited
	}
	return err
}

// connectError adds to err which engines are there.
func (c *Client) connectError(err error, waited time.Duration) error {
	e := &ConnectError{Waited: waited, Err: err}
	for _, engine := range c.table.engines {
		if engine.usable(c.config.Launch != nil) {
			e.Ready = append(e.Ready, engine.rank)
		} else {
			e.Missing = append(e.Missing, engine.rank)
		}
	}
	return e
}

// closeConns is idempotent, as Close of a Conn is.
func (c *Client) closeConns() {
	if c.input != nil {
		_ = c.input.Close() // nothing is left to be lost
	}
	for _, o := range c.outputs {
		_ = o.Conn.Close()
	}
}
