// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// connect opens the server's connections in vLLM's order: handshake, inputs, the
// coordinator, the ready message on each input, outputs; and only when the
// coordinator is ready comes the handshake's end.
func (s *server) connect(ctx context.Context) error {
	c := &s.config
	s.init = &codec.Init{
		Inputs: c.Inputs, Outputs: c.Outputs,
		CoordinatorInput: c.CoordinatorInput, CoordinatorOutput: c.CoordinatorOutput,
	}
	var launcher transport.Conn
	if c.Handshake != "" {
		var err error
		launcher, err = s.open(ctx, transport.Socket{
			Pattern: transport.Dealer, Endpoint: c.Handshake, Identity: c.identity(),
		})
		if err != nil {
			return err
		}
		defer launcher.Close()
		if err := s.hello(ctx, launcher); err != nil {
			return fmt.Errorf("engine: handshake with %s: %w", c.Handshake, err)
		}
	}
	if err := s.openInputs(ctx); err != nil {
		return err
	}
	if err := s.subscribe(ctx); err != nil {
		return err
	}
	if err := s.sayReady(); err != nil {
		return err
	}
	for _, address := range s.init.Outputs {
		conn, err := s.open(ctx, transport.Socket{Pattern: transport.Push, Endpoint: address, Linger: outputLinger})
		if err != nil {
			return err
		}
		s.outputs = append(s.outputs, conn)
	}
	if err := s.awaitCoordinator(ctx); err != nil {
		return fmt.Errorf("engine: coordinator at %s: %w", s.init.CoordinatorInput, err)
	}
	if launcher == nil {
		return nil
	}
	return s.tell(launcher, &codec.Handshake{Status: codec.StatusReady, ParallelConfigHash: c.ParallelConfigHash})
}

// hello asks the launcher for the addresses.
func (s *server) hello(ctx context.Context, launcher transport.Conn) error {
	if err := s.tell(launcher, &codec.Handshake{Status: codec.StatusHello}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.HandshakeTimeout,
		errors.New("no answer to HELLO (Config.HandshakeTimeout is the limit)"))
	defer cancel()
	p, err := launcher.Recv(ctx)
	if err != nil {
		return err
	}
	if len(p.Frames) == 0 {
		return errors.New("answer to HELLO has no frame")
	}
	if s.init, err = codec.DecodeInit(p.Frames[0]); err != nil {
		return err
	}
	if n := len(s.init.Inputs); n == 0 || n != len(s.init.Outputs) {
		return fmt.Errorf("addresses of %d inputs and %d outputs", n, len(s.init.Outputs))
	}
	return nil
}

// tell sends h, completed with what each message of the handshake says.
func (s *server) tell(launcher transport.Conn, h *codec.Handshake) error {
	h.Local, h.Headless = s.config.Local, s.config.Headless || !s.config.Local
	b, err := codec.AppendHandshake(nil, h)
	if err != nil {
		return err
	}
	return send(launcher, b)
}

func (s *server) openInputs(ctx context.Context) error {
	for _, address := range s.init.Inputs {
		conn, err := s.open(ctx, transport.Socket{
			Pattern: transport.Dealer, Endpoint: address, Identity: s.config.identity(),
		})
		if err != nil {
			return err
		}
		s.inputs = append(s.inputs, conn)
	}
	return nil
}

// sayReady tells every client what the engine is, as its release does.
func (s *server) sayReady() error {
	ready := s.config.Ready
	ready.StatsAddress = cmp.Or(ready.StatsAddress, s.init.StatsAddress)
	b, err := s.layout.AppendReady(nil, &ready)
	if err != nil {
		return fmt.Errorf("engine: ready message: %w", err)
	}
	for _, conn := range s.inputs {
		if err := send(conn, b); err != nil {
			return fmt.Errorf("engine: ready message to %s: %w", conn.Endpoint(), err)
		}
	}
	return nil
}

func (s *server) open(ctx context.Context, socket transport.Socket) (transport.Conn, error) {
	conn, err := s.config.Transport.Open(ctx, socket)
	if err != nil {
		return nil, fmt.Errorf("engine: connect to %s: %w", socket.Endpoint, err)
	}
	return conn, nil
}

// send sends one frame, which the caller keeps.
func send(conn transport.Conn, frame []byte) error {
	return conn.Send(transport.Packet{Frames: [][]byte{frame}, Shared: 1})
}
