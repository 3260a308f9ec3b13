// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// jam is a transport whose input says ErrFull of one peer for as long as it is on.
type jam struct {
	transport.Transport
	peer string
	on   atomic.Bool
}

type jammed struct {
	transport.Conn
	*jam
}

func (j *jam) Open(ctx context.Context, s transport.Socket) (transport.Conn, error) {
	c, err := j.Transport.Open(ctx, s)
	if err != nil || s.Pattern != transport.Router {
		return c, err
	}
	return jammed{c, j}, nil
}

func (c jammed) Send(p transport.Packet) error {
	if p.Peer == c.peer && c.on.Load() {
		return transport.ErrFull
	}
	return c.Conn.Send(p)
}

func TestAFullQueueDelaysItsOwnEngineAlone(t *testing.T) { // F3, F12
	synctest.Test(t, func(t *testing.T) {
		j := &jam{peer: "\x00\x00"}
		c, peers, _ := connect(t, 2, roundRobin, func(c *pipeline.Config) { j.Transport, c.Transport = c.Transport, j })
		j.on.Store(true)
		var streams []*pipeline.Stream
		for i := range 6 {
			streams = append(streams, submit(t, c, simple(fmt.Sprint("r", i))))
		}
		streams[2].Close() // its abort waits behind its add
		began := time.Now()
		for _, i := range []int{1, 3, 5} {
			if m := peers[1].next(); m.request.ID != fmt.Sprint("r", i) {
				t.Fatalf("got %v", m)
			}
		}
		if d := time.Since(began); d > 0 {
			t.Fatalf("the other engine waited %v", d)
		}
		time.Sleep(time.Second) // fake
		j.on.Store(false)
		for _, want := range []string{"r0", "r2", "r4", "abort"} {
			m := peers[0].next()
			if got := m.kind; want == "abort" && (got != codec.Abort || m.ids[0] != "r2") || want != "abort" && m.request.ID != want {
				t.Fatalf("want %s, got %v", want, m)
			}
		}
		survives(t, peers[0], streams[0])
	})
}

func TestARestartedEngineGetsNothingThatWasForTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &jam{peer: "\x00\x00"}
		c, peers, net := connect(t, 1, func(c *pipeline.Config) { j.Transport, c.Transport = c.Transport, j })
		j.on.Store(true)
		old := submit(t, c, simple("old"))
		synctest.Wait()
		peers[0].send(peers[0].out, []byte(codec.DeadSentinel))
		if err := failure(old); !errors.Is(err, pipeline.ErrEngineDead) {
			t.Fatalf("got %v", err)
		}
		again := dial(t, net, fixedInput, fixedOutput, 0).ready(codec.Ready{MaxModelLen: 100, Version: codec.DefaultRelease})
		synctest.Wait()
		j.on.Store(false)
		s := submit(t, c, simple("new"))
		if m := again.next(); m.kind != codec.Add || m.request.ID != "new" {
			t.Fatalf("the new engine got %v of %v", m.kind, m.request)
		}
		survives(t, again, s)
	})
}

func TestAQueueThatStaysFullFailsWhatWaits(t *testing.T) { // F11
	synctest.Test(t, func(t *testing.T) {
		j := &jam{peer: "\x00\x00"}
		c, _, _ := connect(t, 1, func(c *pipeline.Config) { j.Transport, c.Transport = c.Transport, j })
		j.on.Store(true)
		began := time.Now()
		err := failure(submit(t, c, simple("r")))
		var e *pipeline.EngineError
		if !errors.Is(err, transport.ErrFull) || !errors.As(err, &e) || e.Op != "send" {
			t.Fatalf("got %v", err)
		}
		if d := time.Since(began); d < pipeline.FullTime || d > pipeline.FullTime+time.Second {
			t.Fatalf("after %v", d)
		}
		shut(t, c) // with the queue full still
	})
}
