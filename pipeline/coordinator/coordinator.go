// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// Addresses are resolved, as peers must dial them; pipeline.Config takes them.
type Addresses = pipeline.CoordinatorAddresses

// Coordinator is a running one. It must be closed. Methods may be called from
// any goroutine.
type Coordinator struct {
	config    Config
	addresses Addresses
	conns     []transport.Conn // front, back publish, back output
	group     *pipeline.Group
	over      chan struct{} // closed at the end
	err       error         // set before over is closed

	mu     sync.Mutex
	core   *Core // written by the loop alone
	counts Counters
}

// errClosed ends a coordinator that is no longer wanted.
var errClosed = errors.New("coordinator: closed")

// Start binds the addresses and coordinates until Close, or until ctx ends.
// Errors: of Config, and of the transport's Open.
func Start(ctx context.Context, config Config) (*Coordinator, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Coordinator{config: config, core: NewCore(config.Engines, config.Lockstep), over: make(chan struct{})}
	if err := c.open(ctx); err != nil {
		c.closeConns()
		return nil, err
	}
	c.addresses = Addresses{Front: c.conns[0].Endpoint(), BackPublish: c.conns[1].Endpoint(), BackOutput: c.conns[2].Endpoint()}
	c.group = pipeline.NewGroup(ctx)
	c.join()
	go func() { // ends with the group
		defer close(c.over)
		err := c.group.Wait()
		if !errors.Is(err, errClosed) && ctx.Err() == nil {
			c.err = err
		}
		c.closeConns()
	}()
	return c, nil
}

// open binds the three sockets.
func (c *Coordinator) open(ctx context.Context) error {
	for _, s := range []struct {
		name, endpoint string
		pattern        transport.Pattern
	}{
		{"front", c.config.Front, transport.XPub},
		{"back publish", c.config.BackPublish, transport.XPub},
		{"back output", c.config.BackOutput, transport.Pull},
	} {
		conn, err := c.config.Transport.Open(ctx, transport.Socket{
			Pattern: s.pattern, Endpoint: s.endpoint, Bind: true, MaxFrame: maxFrame,
		})
		if err != nil {
			return fmt.Errorf("coordinator: bind %s: %w", s.name, err)
		}
		c.conns = append(c.conns, conn)
	}
	return nil
}

func (c *Coordinator) closeConns() {
	for _, conn := range c.conns {
		_ = conn.Close() // its linger has done what could be done
	}
}

// join starts the stages: a receiver for each socket, and the loop they feed.
func (c *Coordinator) join() {
	receive := func(name string, conn transport.Conn) <-chan transport.Packet {
		return pipeline.From(c.group, name, buffer, pipeline.Receive(conn))
	}
	l := &loop{
		Coordinator: c, toClients: c.conns[0], toEngines: c.conns[1],
		clients: receive("front", c.conns[0]), outputs: receive("back output", c.conns[2]),
	}
	pipeline.To(c.group, "coordinate", receive("back publish", c.conns[1]), l.run)
}

// Addresses are the resolved ones.
func (c *Coordinator) Addresses() Addresses { return c.addresses }

// State copies what the coordinator knows, as Core.State.
func (c *Coordinator) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.core.State()
}

// Done is closed when the coordinator has ended, by whatever cause.
func (c *Coordinator) Done() <-chan struct{} { return c.over }

// Wait waits for the end. The error is nil after Close or the end of Start's
// context; otherwise a *pipeline.StageError names the socket that failed.
func (c *Coordinator) Wait() error {
	<-c.over
	return c.err
}

// Close ends the coordinator, gives its addresses back and returns what Wait
// does. It may be called more than once.
func (c *Coordinator) Close() error {
	c.group.Cancel(errClosed)
	return c.Wait()
}
