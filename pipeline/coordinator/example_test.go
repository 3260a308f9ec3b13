// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"fmt"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// A launcher starts the coordinator and names its addresses to the engines.
func ExampleStart() {
	network := new(inproc.Network)
	c, err := coordinator.Start(context.Background(), coordinator.Config{
		Transport: network, Engines: 1, Lockstep: true,
		Front: "inproc://front", BackPublish: "inproc://in", BackOutput: "inproc://out",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	a := c.Addresses()
	init := codec.Init{CoordinatorInput: a.BackPublish, CoordinatorOutput: a.BackOutput, StatsAddress: a.Front}

	// What an engine does with them first:
	engine, err := network.Open(context.Background(), transport.Socket{
		Pattern: transport.XSub, Endpoint: init.CoordinatorInput, Identity: []byte(codec.Identity(0)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	if err := engine.Send(transport.Packet{Frames: [][]byte{{1}}, Shared: 1}); err != nil {
		fmt.Println(err)
		return
	}
	p, err := engine.Recv(context.Background())
	fmt.Printf("%s %v\n", p.Frames[0], err)
	// Output: READY <nil>
}

// In a simulation nothing is sent: who drives the Core passes on what it says.
func ExampleCore() {
	c := coordinator.NewCore(2, true)
	c.Subscribe()
	fmt.Println("ready:", c.Subscribe())

	wake, ok := c.FirstRequest(codec.ExcludeRank(1), 0)
	fmt.Println("wake:", wake.Wave, "all but", wake.Exclude.Rank, ok, "running:", c.State().Running)

	_, ok = c.WaveStarted(0, 0)
	fmt.Println("tell the others:", ok, "running:", c.State().Running)

	c.Report(1, codec.Load{Waiting: 3, Running: 8, KVUsage: .5})
	fmt.Println(c.Publish().Rows)
	// Output:
	// ready: true
	// wake: 0 all but 1 true running: false
	// tell the others: true running: true
	// [{0 0 0} {3 8 0.5}]
}
