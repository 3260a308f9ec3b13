// SPDX-License-Identifier: Apache-2.0

package inproc_test

import (
	"context"
	"fmt"

	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// A client and an engine meet in memory; then the engine is cut off.
func Example() {
	var network inproc.Network
	ctx := context.Background()
	client, err := network.Open(ctx, transport.Socket{Pattern: transport.Router, Endpoint: "tcp://*:0", Bind: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	engine, err := network.Open(ctx, transport.Socket{
		Pattern: transport.Dealer, Endpoint: client.Endpoint(), Identity: []byte{1, 0},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	err = engine.Send(transport.Packet{Frames: [][]byte{[]byte("ready")}, Shared: 1})
	p, _ := client.Recv(ctx)
	fmt.Printf("%q from %x, %v\n", p.Frames, p.Peer, err)

	faults, err := network.Faults(client.Endpoint())
	fmt.Println(faults.Disconnect(p.Peer, -1), err)
	fmt.Println(client.Send(p))
	// Output:
	// ["ready"] from 0100, <nil>
	// 1 <nil>
	// transport: peer unreachable
}
