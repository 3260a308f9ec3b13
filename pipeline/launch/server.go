// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"fmt"
	"slices"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// server is the state of one Launch. One goroutine has it.
type server struct {
	*Handshake
	launch pipeline.Launch
	conn   transport.Conn
	met    map[int]bool  // ranks that have said HELLO and not yet READY
	held   map[int]hello // HELLOs of ranks that seem to be in use
	hash   *string       // the first engine's; empty outside data parallel
}

// hello is a HELLO that waits until its rank is free.
type hello struct {
	peer  string
	until time.Time
}

// answer takes one message.
func (s *server) answer(p transport.Packet) *RefusedError {
	refuse := func(status string, err error) *RefusedError {
		return &RefusedError{Peer: p.Peer, Status: status, Err: err}
	}
	rank, ok := s.rank(p.Peer)
	if !ok {
		return refuse("", ErrUnmanaged)
	}
	if len(p.Frames) != 1 {
		return refuse("", fmt.Errorf("want one frame, got %d", len(p.Frames)))
	}
	m, err := codec.DecodeHandshake(p.Frames[0])
	if err != nil {
		return refuse("", err)
	}
	switch m.Status {
	case codec.StatusHello:
		if s.launch.InUse(rank) {
			s.held[rank] = hello{p.Peer, time.Now().Add(holdFor)}
			return nil
		}
		err = s.introduce(rank, p.Peer)
	case codec.StatusReady:
		err = s.ready(rank, m)
	default:
		err = ErrStatus
	}
	if err != nil {
		return refuse(m.Status, err)
	}
	return nil
}

// look answers what was held once its rank is free, and refuses it in the end.
func (s *server) look() {
	for rank, h := range s.held {
		var err error
		switch {
		case !s.launch.InUse(rank):
			err = s.introduce(rank, h.peer)
		case time.Now().After(h.until):
			err = ErrInUse
		default:
			continue
		}
		delete(s.held, rank)
		if err != nil {
			s.report(&RefusedError{Peer: h.peer, Status: codec.StatusHello, Err: err})
		}
	}
}

// introduce tells an engine its addresses. One that died while it loaded may
// come again.
func (s *server) introduce(rank int, peer string) error {
	m := s.launch.Init(rank)
	m.ParallelConfig = s.ParallelConfig
	b, err := codec.AppendInit(nil, m)
	if err != nil {
		return err
	}
	if err := s.conn.Send(transport.Packet{Peer: peer, Frames: [][]byte{b}, Shared: 1}); err != nil {
		return err
	}
	s.met[rank] = true
	return nil
}

// ready ends the handshake of one engine.
func (s *server) ready(rank int, m *codec.Handshake) error {
	if !s.met[rank] {
		return ErrOrder
	}
	if s.hash == nil {
		s.hash = &m.ParallelConfigHash
	}
	if m.ParallelConfigHash != *s.hash {
		s.launch.Failed(rank, ErrHash) // it will never fit: no use in waiting for it
		return ErrHash
	}
	delete(s.met, rank)
	s.launch.Started(rank)
	return nil
}

// rank reads an identity and checks that it is managed.
func (s *server) rank(peer string) (int, bool) {
	rank, ok := codec.RankOf(peer)
	return rank, ok && slices.Contains(s.launch.Ranks, rank)
}
