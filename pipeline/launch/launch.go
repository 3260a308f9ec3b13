// SPDX-License-Identifier: Apache-2.0

// Package launch meets engines: it owns the handshake in which an engine says
// HELLO, is told the client's addresses, and says READY when it has loaded its
// model (vLLM: wait_for_engine_startup).
package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// Handshake answers engines that others start, such as
//
//	vllm serve MODEL --headless --data-parallel-address HOST --data-parallel-rpc-port PORT
//
// It is a pipeline.Launcher and serves for as long as the client lives, so that
// an engine that was restarted is met again.
type Handshake struct {
	Endpoint string // to bind, where engines dial: "tcp://127.0.0.1:29550"
	// Bound, if set, is told the resolved address, before the first HELLO.
	Bound func(endpoint string)
	// ParallelConfig is set verbatim on each engine's parallel configuration;
	// engines in lockstep need it. vLLM: EngineHandshakeMetadata.parallel_config.
	ParallelConfig map[string]any
	// Refused, if set, hears of messages that were not answered.
	Refused func(err *RefusedError)
}

// RefusedError is a handshake message that cannot be answered. The engine gets
// no reply, and others are served on.
type RefusedError struct {
	Peer   string // the identity as it came
	Status string // "HELLO", "READY" or what else it said; empty when it is not to be read
	Err    error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("launch: %s of engine %x refused: %v", e.Status, e.Peer, e.Err)
}

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// Reasons of a RefusedError, next to those of the codec and the transport.
var (
	ErrUnmanaged = errors.New("its rank is not one of the client's")
	ErrInUse     = errors.New("an engine of this rank is in use and was not seen to die")
	ErrOrder     = errors.New("READY without a HELLO before it")
	ErrStatus    = errors.New("want HELLO or READY")
	ErrHash      = errors.New("parallel_config_hash differs from that of the other engines")
)

// Launch serves handshakes until ctx ends. It is called by the Client.
func (h *Handshake) Launch(ctx context.Context, l pipeline.Launch) error {
	conn, err := l.Transport.Open(ctx, transport.Socket{
		Pattern: transport.Router, Endpoint: h.Endpoint, Bind: true, Handover: true,
	})
	if err != nil {
		return fmt.Errorf("launch: bind handshake: %w", err)
	}
	defer func() { _ = conn.Close() }() // all replies have been sent or do not matter
	if h.Bound != nil {
		h.Bound(conn.Endpoint())
	}
	s := server{Handshake: h, launch: l, conn: conn, met: map[int]bool{}, held: map[int]hello{}}
	for {
		p, err := s.receive(ctx)
		if err == nil {
			s.report(s.answer(p))
		} else if ctx.Err() != nil || !errors.Is(err, errLook) {
			return err
		}
		s.look()
	}
}

func (s *server) report(err *RefusedError) {
	if err != nil && s.Refused != nil {
		s.Refused(err)
	}
}

// receive waits for a message, and no longer than lookEvery while a HELLO is held.
func (s *server) receive(ctx context.Context) (transport.Packet, error) {
	if len(s.held) > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, lookEvery, errLook)
		defer cancel()
	}
	return s.conn.Recv(ctx)
}

// How long a HELLO of a rank that seems to be in use is held, and how often it is
// looked at: the transport needs a moment to see that the old engine is gone.
const (
	holdFor   = 3 * time.Second
	lookEvery = 50 * time.Millisecond
)

var errLook = errors.New("time to look at what is held")
