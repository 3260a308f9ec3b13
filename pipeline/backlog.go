// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"time"

	"github.com/corepipe/corepipe/transport"
)

// FullTime is how long packets wait for an engine whose queue is full before they
// fail with transport.ErrFull. Queues have no bound unless a transport has one.
const FullTime = 10 * time.Second

// retryEvery is how often a full queue is tried.
const retryEvery = 2 * time.Millisecond

// backlog is what waits for one engine.
type backlog struct {
	packets []Routed
	until   time.Time
}

func newBacklog(r Routed) *backlog {
	return &backlog{packets: []Routed{r}, until: time.Now().Add(FullTime)}
}

// catchUp goes on with in until nothing is held, in has ended, or ctx has. It tells
// took of each value.
func (s *sender) catchUp(ctx context.Context, in <-chan Routed, took func()) {
	if len(s.held) == 0 {
		return
	}
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for len(s.held) > 0 {
		select {
		case r, ok := <-in:
			if !ok {
				return
			}
			s.packet(r)
			took()
		case <-tick.C:
			s.again()
		case <-ctx.Done():
			return
		}
	}
}

// finish sends what is held after the last packet.
func (s *sender) finish(ctx context.Context) error {
	s.catchUp(ctx, nil, nil)
	s.drop()
	return context.Cause(ctx)
}

// again sends what is held as far as it goes, and gives up what has waited too long.
func (s *sender) again() {
	now := time.Now()
	for e, b := range s.held {
		n := 0
		for n < len(b.packets) && s.send(b.packets[n]) {
			n++
		}
		if b.packets = b.packets[n:]; n > 0 {
			b.until = now.Add(FullTime)
		}
		if len(b.packets) > 0 && now.After(b.until) {
			s.fail(b)
		}
		if len(b.packets) == 0 {
			delete(s.held, e)
		}
	}
}

// fail fails all of b.
func (s *sender) fail(b *backlog) {
	for _, r := range b.packets {
		r.release()
		r.Fail(&opError{"send", &EngineError{r.Rank, "send", transport.ErrFull}})
	}
	b.packets = nil
}

// drop fails what is held when the stage ends early.
func (s *sender) drop() {
	for _, b := range s.held {
		s.fail(b)
	}
}
