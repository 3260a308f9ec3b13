// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo && linux

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/zmq"
)

func TestACoordinatorInAProcessOfItsOwn(t *testing.T) {
	front := "ipc://" + emptyTemp(t) + "/front"
	cmd := exec.CommandContext(t.Context(), withZMQ(t), "coordinator", "--engines", "1", "--lockstep", "--front", front, "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(bufio.NewReader(out))
	var a coordinator.Addresses
	if err := lines.Decode(&a); err != nil || a.Front != front || !strings.HasPrefix(a.BackOutput, "tcp://127.0.0.1:") {
		t.Fatalf("addresses %+v, %v", a, err)
	}

	network, err := zmq.New()
	if err != nil {
		t.Fatal(err)
	}
	defer network.Close()
	client := subscriber(t, network, a.Front)
	engine := subscriber(t, network, a.BackPublish)
	defer client.Close()
	defer engine.Close()
	heard(t, engine, "READY")
	heard(t, client, "\x93\x91\x93\x00\x00\xcb\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2")
	tell(t, client, string(codec.AppendCoordinatorCall(nil, codec.CoordinatorCall{})))
	heard(t, engine, "\x02", "\x92\x00\xc0")
	tell(t, client, "junk")
	tell(t, client, string(codec.AppendCoordinatorCall(nil, codec.CoordinatorCall{})))
	heard(t, engine, "\x02", "\x92\x00\xc0")

	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var c coordinator.Counters
	if err := lines.Decode(&c); err != nil || c.Ready != 1 || c.FirstRequests != 2 || c.Wakes != 2 || c.Malformed != 1 {
		t.Errorf("counters %+v, %v", c, err)
	}
	if _, err := lines.Token(); err != io.EOF {
		t.Errorf("more than two lines: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestACoordinatorSaysWhereItIs(t *testing.T) {
	directory := emptyTemp(t)
	c := start(t, withZMQ(t), "coordinator", "--front", "ipc://"+directory+"/f",
		"--back-publish", "ipc://"+directory+"/p", "--back-output", "ipc://"+directory+"/o")
	until(t, "sockets", func() bool {
		files, err := os.ReadDir(directory)
		return err == nil && len(files) == 3
	})
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	o := c.wait()
	want := fmt.Sprintf("front         ipc://%[1]s/f\nback publish  ipc://%[1]s/p\nback output   ipc://%[1]s/o\n0 publications\n", directory)
	if o.code != 0 || !strings.HasPrefix(o.out, want) {
		t.Errorf("code %d, output %q, error %q; want %q", o.code, o.out, o.err, want)
	}
}

func subscriber(t *testing.T, network transport.Transport, endpoint string) transport.Conn {
	t.Helper()
	conn, err := network.Open(t.Context(), transport.Socket{Pattern: transport.XSub, Endpoint: endpoint})
	if err != nil {
		t.Fatal(err)
	}
	tell(t, conn, "\x01")
	return conn
}

func tell(t *testing.T, conn transport.Conn, frame string) {
	t.Helper()
	if err := conn.Send(transport.Packet{Frames: [][]byte{[]byte(frame)}, Shared: 1}); err != nil {
		t.Fatal(err)
	}
}

func heard(t *testing.T, conn transport.Conn, frames ...string) {
	t.Helper()
	p, err := conn.Recv(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range p.Frames {
		got = append(got, string(f))
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", frames) {
		t.Fatalf("heard %q, want %q", got, frames)
	}
}
