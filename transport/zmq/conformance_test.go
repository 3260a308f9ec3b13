// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq_test

import (
	"net"
	"testing"

	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/transporttest"
	"github.com/corepipe/corepipe/transport/zmq"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	for _, scheme := range []string{"ipc", "tcp", "tcp6", "inproc"} {
		t.Run("address="+scheme, func(t *testing.T) {
			if scheme == "tcp6" {
				needIPv6(t)
			}
			transporttest.Run(t, func(t testing.TB) transporttest.Harness {
				h := transporttest.Harness{
					Transport:    newTransport(t),
					Address:      func(t testing.TB) string { return address(t, scheme) },
					NoReconnect:  scheme == "inproc",
					NoFrameLimit: scheme == "inproc",
				}
				if scheme == "tcp6" || scheme == "inproc" {
					h.Messages = 20_000 // ipc and tcp run the full number
				}
				return h
			})
		})
	}
}

// needIPv6 skips where the machine has none.
func needIPv6(t testing.TB) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 loopback: %v", err)
	}
	l.Close()
}

// newTransport is closed with the test, which fails if that is slow.
func newTransport(t testing.TB) *zmq.Transport {
	t.Helper()
	tr, err := zmq.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Errorf("close transport: %v", err)
		}
	})
	return tr
}

// address returns one that can be bound now.
func address(t testing.TB, scheme string) string {
	switch scheme {
	case "ipc":
		return "ipc://" + socketDir(t) + "/s"
	case "tcp":
		return "tcp://127.0.0.1:0"
	case "tcp6":
		return "tcp://[::1]:0"
	}
	return "inproc://" + socketDir(t) // unique
}

func open(t testing.TB, tr transport.Transport, s transport.Socket) transport.Conn {
	t.Helper()
	c, err := tr.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
