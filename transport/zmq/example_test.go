// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq_test

import (
	"context"
	"fmt"

	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/zmq"
)

// A client binds the Router; an engine connects under its rank and speaks first.
func Example() {
	t, err := zmq.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	client, err := t.Open(ctx, transport.Socket{Pattern: transport.Router, Endpoint: "tcp://127.0.0.1:0", Bind: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := t.Open(ctx, transport.Socket{
		Pattern: transport.Dealer, Endpoint: client.Endpoint(), Identity: []byte{1, 0},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = engine.Send(transport.Packet{Frames: [][]byte{[]byte("ready")}, Shared: 1})
	p, _ := client.Recv(ctx)
	fmt.Printf("%q from %x, %v\n", p.Frames, p.Peer, err)

	fmt.Println(client.Send(transport.Packet{Peer: "\x02\x00", Frames: [][]byte{{0}}, Shared: 1}))
	fmt.Println(engine.Close(), client.Close(), t.Close())
	// Output:
	// ["ready"] from 0100, <nil>
	// transport: peer unreachable
	// <nil> <nil> <nil>
}
