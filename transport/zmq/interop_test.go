// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq_test

import (
	"fmt"
	"testing"

	"github.com/corepipe/corepipe/transport"
	"github.com/pebbe/zmq4"
)

// raw is a plain libzmq socket, as another program's.
func raw(t *testing.T, kind zmq4.Type, identity, dial string) *zmq4.Socket {
	t.Helper()
	ctx, err := zmq4.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	soc, err := ctx.NewSocket(kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { soc.Close(); ctx.Term() })
	soc.SetLinger(0)
	if identity != "" {
		soc.SetIdentity(identity)
	}
	if kind == zmq4.SUB {
		soc.SetSubscribe("")
	}
	if err := soc.Connect(dial); err != nil {
		t.Fatal(err)
	}
	return soc
}

func TestARawDealerSeesTheFramesWithoutItsIdentity(t *testing.T) {
	tr := newTransport(t)
	for _, rank := range []string{"\x00\x00", "\x01\x00"} {
		router := open(t, tr, transport.Socket{Pattern: transport.Router, Endpoint: address(t, "ipc"), Bind: true})
		engine := raw(t, zmq4.DEALER, rank, router.Endpoint())
		if _, err := engine.SendMessage("ready", ""); err != nil {
			t.Fatal(err)
		}
		p := recv(t, router)
		if p.Peer != rank || fmt.Sprintf("%q", p.Frames) != `["ready" ""]` {
			t.Errorf("the router got %q from %q", p.Frames, p.Peer)
		}
		send(t, router, rank, "\x00", "request", "", "tensor")
		got, err := engine.RecvMessage(0)
		if want := `["\x00" "request" "" "tensor"]`; err != nil || fmt.Sprintf("%q", got) != want {
			t.Errorf("the dealer got %q, %v; want %s", got, err, want)
		}
	}
}

func TestRawXSubAndPushTalkToXPubAndPull(t *testing.T) {
	tr := newTransport(t)
	pub := open(t, tr, transport.Socket{Pattern: transport.XPub, Endpoint: address(t, "tcp"), Bind: true})
	engine := raw(t, zmq4.XSUB, "\x00\x00", pub.Endpoint())
	engine.SendBytes([]byte{1}, 0)
	if p := recv(t, pub); string(p.Frames[0]) != "\x01" {
		t.Errorf("the xpub got %q", p.Frames)
	}
	send(t, pub, "", "READY")
	if got, err := engine.RecvMessage(0); err != nil || fmt.Sprintf("%q", got) != `["READY"]` {
		t.Errorf("the xsub got %q, %v", got, err)
	}
	pull := open(t, tr, transport.Socket{Pattern: transport.Pull, Endpoint: address(t, "tcp"), Bind: true})
	raw(t, zmq4.PUSH, "", pull.Endpoint()).SendMessage("outputs", "aux")
	if p := recv(t, pull); fmt.Sprintf("%q", p.Frames) != `["outputs" "aux"]` {
		t.Errorf("the pull got %q", p.Frames)
	}
}
