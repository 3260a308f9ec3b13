// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// coordinatorReady is what a coordinator says when all engines have subscribed.
const coordinatorReady = "READY"

// subscribe opens both connections to the coordinator, if there is one.
func (s *server) subscribe(ctx context.Context) (err error) {
	if in := s.init.CoordinatorInput; in != "" {
		socket := transport.Socket{Pattern: transport.XSub, Endpoint: in, Identity: s.config.identity()}
		if s.wakes, err = s.open(ctx, socket); err != nil {
			return err
		}
		if err := send(s.wakes, []byte{1}); err != nil { // to everything
			return fmt.Errorf("engine: subscribe to coordinator %s: %w", in, err)
		}
	}
	if out := s.init.CoordinatorOutput; out != "" {
		s.reports, err = s.open(ctx, transport.Socket{Pattern: transport.Push, Endpoint: out, Linger: outputLinger})
	}
	return err
}

// awaitCoordinator waits until all engines have subscribed. A wake that came
// before is kept: it is meant for all who listen.
func (s *server) awaitCoordinator(ctx context.Context) error {
	if s.wakes == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.HandshakeTimeout,
		errors.New("not READY: not all engines have subscribed (Config.HandshakeTimeout is the limit)"))
	defer cancel()
	for {
		p, err := s.wakes.Recv(ctx)
		switch {
		case err != nil:
			return err
		case isReady(p):
			return nil
		case s.isWake(p):
			s.early = append(s.early, p)
		}
	}
}

func isReady(p transport.Packet) bool {
	return len(p.Frames) == 1 && string(p.Frames[0]) == coordinatorReady
}

var errNoWake = errors.New("coordinators say READY and START_DP_WAVE only")

// isWake tells a start of a wave, which decode will look at, from what a
// coordinator does not say, which is skipped.
func (s *server) isWake(p transport.Packet) bool {
	if len(p.Frames) > 0 && len(p.Frames[0]) == 1 {
		kind := codec.Kind(p.Frames[0][0])
		if kind == codec.StartWave {
			return true
		}
		s.skip(&SkippedError{Kind: kind, Err: errNoWake})
		return false
	}
	s.skip(&SkippedError{Err: errNoWake})
	return false
}

// sources are where messages come from: every client, and the coordinator.
func (s *server) sources() []pipeline.Source[transport.Packet] {
	var all []pipeline.Source[transport.Packet]
	for _, conn := range s.inputs {
		all = append(all, pipeline.Receive(conn))
	}
	if s.wakes != nil {
		all = append(all, s.listen)
	}
	return all
}

// listen is the source of wakes. The coordinator says READY again whenever an
// engine has come late.
func (s *server) listen(ctx context.Context, out chan<- transport.Packet) error {
	for _, p := range s.early {
		if err := pipeline.Emit(ctx, out, p); err != nil {
			return err
		}
	}
	for {
		p, err := s.wakes.Recv(ctx)
		switch {
		case errors.Is(err, transport.ErrClosed):
			return nil
		case err != nil:
			return err
		case isReady(p) || !s.isWake(p):
			continue
		}
		if err := pipeline.Emit(ctx, out, p); err != nil {
			return err
		}
	}
}
