// SPDX-License-Identifier: Apache-2.0

package inproc_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

func open(t testing.TB, n *inproc.Network, s transport.Socket) transport.Conn {
	t.Helper()
	c, err := n.Open(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func text(s string) transport.Packet {
	return transport.Packet{Frames: [][]byte{[]byte(s)}, Shared: 1}
}

func TestABusyPeerDelaysNobody(t *testing.T) {
	var n inproc.Network
	pull := open(t, &n, transport.Socket{Pattern: transport.Pull, Endpoint: "inproc://p", Bind: true})
	busy := open(t, &n, transport.Socket{Pattern: transport.Push, Endpoint: "inproc://p"})
	quiet := open(t, &n, transport.Socket{Pattern: transport.Push, Endpoint: "inproc://p"})
	for i := range 1000 {
		if err := busy.Send(text(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := quiet.Send(text("me")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if p, err := pull.Recv(t.Context()); err != nil {
			t.Fatal(err)
		} else if string(p.Frames[0]) == "me" {
			return
		}
	}
	t.Error("the quiet peer's packet did not come in its turn")
}

func TestHostsMeetAsTheyAreSpelled(t *testing.T) {
	for _, test := range []struct {
		bind, dial string
		meet       bool
	}{
		{"tcp://*:5000", "tcp://some-host:5000", true},
		{"tcp://0.0.0.0:5000", "tcp://127.0.0.1:5000", true},
		{"tcp://127.0.0.1:5000", "tcp://localhost:5000", true},
		{"tcp://10.0.0.1:5000", "tcp://10.0.0.2:5000", false},
		{"tcp://[::1]:5000", "tcp://localhost:5000", true},
		{"ipc:///run/a", "ipc:///run/a", true},
		{"ipc:///run/a", "inproc:///run/a", false},
	} {
		var n inproc.Network
		push := open(t, &n, transport.Socket{Pattern: transport.Push, Endpoint: test.bind, Bind: true})
		open(t, &n, transport.Socket{Pattern: transport.Pull, Endpoint: test.dial})
		if err := push.Send(text("x")); (err == nil) != test.meet {
			t.Errorf("bound %s, dialled %s: send gave %v, want them to meet: %v", test.bind, test.dial, err, test.meet)
		}
	}
}

func TestPatternsThatDoNotTalkNeverConnect(t *testing.T) {
	var n inproc.Network
	push := open(t, &n, transport.Socket{Pattern: transport.Push, Endpoint: "inproc://x", Bind: true})
	open(t, &n, transport.Socket{Pattern: transport.Dealer, Endpoint: "inproc://x"})
	if err := push.Send(text("x")); !errors.Is(err, transport.ErrFull) {
		t.Errorf("a push sent to a dealer: %v", err)
	}
}

func TestSharedFramesArePassedByReference(t *testing.T) {
	var n inproc.Network
	pull := open(t, &n, transport.Socket{Pattern: transport.Pull, Endpoint: "inproc://x", Bind: true})
	push := open(t, &n, transport.Socket{Pattern: transport.Push, Endpoint: "inproc://x"})
	head, tensor := []byte("head"), []byte("tensor")
	if err := push.Send(transport.Packet{Frames: [][]byte{head, tensor}, Shared: 1}); err != nil {
		t.Fatal(err)
	}
	p, err := pull.Recv(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Shared != 1 || &p.Frames[0][0] == &head[0] || &p.Frames[1][0] != &tensor[0] {
		t.Errorf("Shared %d; want the head copied and the tensor not", p.Shared)
	}
}

func TestFaultsOfABadAddressAreAnError(t *testing.T) {
	var address *transport.AddressError
	if _, err := new(inproc.Network).Faults("tcp://x"); !errors.As(err, &address) {
		t.Errorf("got %v, want an AddressError", err)
	}
}

func TestTheCasesRunInABubble(t *testing.T) {
	for _, c := range quickCases() {
		synctest.Test(t, func(t *testing.T) {
			c.Run(t, harness())
		})
	}
}
