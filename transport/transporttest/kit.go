// SPDX-License-Identifier: Apache-2.0

package transporttest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/corepipe/corepipe/transport"
)

// kit is what the cases are written with. Its methods are for the test's own
// goroutine, unless they return an error.
type kit struct {
	testing.TB
	h Harness
}

func newKit(t testing.TB, h Harness) kit {
	if h.Messages == 0 {
		if h.Messages = 200_000; raceEnabled || testing.Short() {
			h.Messages /= 10
		}
	}
	if h.Patience == 0 {
		h.Patience = 10 * time.Second
	}
	return kit{t, h}
}

// open opens a socket that is closed with the test.
func (k kit) open(s transport.Socket) transport.Conn {
	k.Helper()
	c, err := k.h.Transport.Open(context.Background(), s)
	if err != nil {
		k.Fatalf("open %s at %s: %v", s.Pattern, s.Endpoint, err)
	}
	k.Cleanup(func() { c.Close() })
	return c
}

// bind opens a listener at a fresh address.
func (k kit) bind(s transport.Socket) transport.Conn {
	k.Helper()
	s.Endpoint, s.Bind = k.h.Address(k), true
	return k.open(s)
}

// dial connects to a listener.
func (k kit) dial(to transport.Conn, s transport.Socket) transport.Conn {
	k.Helper()
	s.Endpoint = to.Endpoint()
	return k.open(s)
}

func (k kit) close(c transport.Conn) {
	k.Helper()
	if err := c.Close(); err != nil {
		k.Fatalf("close: %v", err)
	}
}

// packet makes one of private frames.
func packet(peer string, frames ...string) transport.Packet {
	p := transport.Packet{Peer: peer, Shared: len(frames)}
	for _, f := range frames {
		p.Frames = append(p.Frames, []byte(f))
	}
	return p
}

func (k kit) send(c transport.Conn, peer string, frames ...string) {
	k.Helper()
	if err := c.Send(packet(peer, frames...)); err != nil {
		k.Fatalf("send %q to %q: %v", frames, peer, err)
	}
}

// recv waits for a packet as long as Patience.
func (k kit) recv(c transport.Conn) transport.Packet {
	k.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), k.h.Patience)
	defer cancel()
	p, err := c.Recv(ctx)
	if err != nil {
		k.Fatalf("receive: %v", err)
	}
	return p
}

// want receives a packet and compares it.
func (k kit) want(c transport.Conn, peer string, frames ...string) {
	k.Helper()
	if err := same(k.recv(c), packet(peer, frames...)); err != nil {
		k.Fatal(err)
	}
}

func same(got, want transport.Packet) error {
	if got.Peer != want.Peer || len(got.Frames) != len(want.Frames) {
		return fmt.Errorf("got %d frames from %q, want %d from %q", len(got.Frames), got.Peer, len(want.Frames), want.Peer)
	}
	for i := range got.Frames {
		if g, w := string(got.Frames[i]), string(want.Frames[i]); g != w {
			return fmt.Errorf("frame %d of %d from %q: got %s, want %s", i, len(got.Frames), got.Peer, brief(g), brief(w))
		}
	}
	return nil
}

func brief(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%q… of %d bytes", s[:40], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// eventually repeats try until it is true.
func (k kit) eventually(what string, try func() bool) {
	k.Helper()
	for end := time.Now().Add(k.h.Patience); !try(); runtime.Gosched() {
		if time.Now().After(end) {
			k.Fatalf("never happened: %s", what)
		}
	}
}

// is fails the test unless err is target.
func (k kit) is(err, target error, what string) {
	k.Helper()
	if !errors.Is(err, target) {
		k.Fatalf("%s: got error %v, want %v", what, err, target)
	}
}
