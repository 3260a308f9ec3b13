// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/corepipe/corepipe/transport"
)

// socketDir is a new directory with a short name: t.TempDir's may be over what
// a socket path holds.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "zmq") //nolint:usetesting // t.TempDir is named after the test, too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func packet(peer string, frames ...string) transport.Packet {
	p := transport.Packet{Peer: peer, Shared: len(frames)}
	for _, f := range frames {
		p.Frames = append(p.Frames, []byte(f))
	}
	return p
}

func send(t testing.TB, c transport.Conn, peer string, frames ...string) {
	t.Helper()
	if err := c.Send(packet(peer, frames...)); err != nil {
		t.Fatalf("send %q: %v", frames, err)
	}
}

func recv(t testing.TB, c transport.Conn) transport.Packet {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	p, err := c.Recv(ctx)
	if err != nil {
		t.Fatalf("receive: %v", err)
	}
	return p
}
