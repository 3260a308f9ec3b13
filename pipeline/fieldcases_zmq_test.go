// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo

package pipeline_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/zmq"
)

// overIPC is a transport and the addresses of a client on it.
func overIPC(t *testing.T) (net transport.Transport, input, output string) {
	t.Helper()
	z, err := zmq.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := z.Close(); err != nil {
			t.Error(err)
		}
	})
	directory, err := os.MkdirTemp("", "p") //nolint:usetesting // a test's name is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	return z, "ipc://" + directory + "/i", "ipc://" + directory + "/o"
}

func TestP8OverZeroMQ(t *testing.T) {
	net, input, output := overIPC(t)
	paired(t, net, input, output)
}

func TestX3ARequestsTensorIsCopiedOnceOverZeroMQ(t *testing.T) {
	net, input, output := overIPC(t)
	tensorRequest(t, net, input, output, 1.1)
}

func TestX3AnAnswersTensorIsCopiedOnceOverZeroMQ(t *testing.T) {
	net, input, output := overIPC(t)
	tensorAnswer(t, net, input, output, 1.1)
}

func TestX1LiveStreamsTakeNoFileDescriptors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the open files of a process are counted in /proc/self/fd, which Linux has")
	}
	const n, engines, slack = 5000, 4, 4
	net, input, output := overIPC(t)
	peers := make([]*peer, engines)
	for rank := range peers {
		peers[rank] = dial(t, net, input, output, rank).ready(codec.Ready{MaxModelLen: 100, Version: codec.DefaultRelease})
	}
	c, err := pipeline.Connect(t.Context(), pipeline.Config{Transport: net, Engines: engines, Input: input, Output: output})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, c) })
	allConnected(t, c, peers)

	before := openFiles(t)
	first, last := make(chan error, n), make(chan error, n)
	for i := range n {
		r := simple(fmt.Sprint("r", i))
		r.DataParallelRank = new(i % engines)
		go readLive(submit(t, c, r), first, last)
	}
	// Every engine has begun all of its requests and ended none.
	ids := make([][]string, engines)
	for rank, p := range peers {
		ids[rank] = p.adds(n / engines)
		p.stepAll(ids[rank], codec.FinishNone)
	}
	none(t, n, first)
	live := 0
	for _, e := range c.Engines() {
		live += e.InFlight
	}
	if live != n {
		t.Errorf("%d requests are live, want %d", live, n)
	}
	if during := openFiles(t); during < before-slack || during > before+slack {
		t.Errorf("%d open files with %d live streams, %d before them", during, n, before)
	}
	for rank, p := range peers {
		p.stepAll(ids[rank], codec.FinishStop)
	}
	none(t, n, last)
	if after := openFiles(t); after < before-slack || after > before+slack {
		t.Errorf("%d open files after %d streams, %d before them", after, n, before)
	}
}

// allConnected has each engine called and answer, which opens all there is to open.
func allConnected(t *testing.T, c *pipeline.Client, peers []*peer) {
	t.Helper()
	done := make(chan error, 1)
	go func() { _, err := c.Call(t.Context(), "is_sleeping", nil); done <- err }()
	for _, p := range peers {
		p.answer(p.next().call.CallID, false)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// readLive reads a stream as its user does.
func readLive(s *pipeline.Stream, first, last chan<- error) {
	_, err := s.Next(context.Background())
	first <- err
	last <- failure(s)
}

// none waits for n errors that are nil.
func none(t *testing.T, n int, errs <-chan error) {
	t.Helper()
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

// adds takes the next n messages, requests all.
func (p *peer) adds(n int) (ids []string) {
	p.t.Helper()
	for range n {
		m := p.next()
		if m.kind != codec.Add {
			p.t.Fatalf("engine %d got %v", p.rank, m.kind)
		}
		ids = append(ids, m.request.ID)
	}
	return ids
}

// stepAll gives each request a token, in steps of 250.
func (p *peer) stepAll(ids []string, finish codec.FinishReason) {
	p.t.Helper()
	for len(ids) > 0 {
		var rows []codec.Output
		for _, id := range ids[:min(len(ids), 250)] {
			rows = append(rows, row(id, finish, 7))
		}
		p.rows(rows...)
		ids = ids[len(rows):]
	}
}

// openFiles counts those of this process, the directory read included.
func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}
