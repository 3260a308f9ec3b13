// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !race

package zmq_test

import (
	"testing"

	"github.com/corepipe/corepipe/transport"
)

// Two are zmq4's for the frame, one tells whether another follows, and one is of a
// receiver that has to wait.
func TestAMessageAllocatesLittle(t *testing.T) {
	tr := newTransport(t)
	pull := open(t, tr, transport.Socket{Pattern: transport.Pull, Endpoint: address(t, "ipc"), Bind: true})
	push := open(t, tr, transport.Socket{Pattern: transport.Push, Endpoint: pull.Endpoint()})
	p := packet("", "outputs of a step")
	if n := testing.AllocsPerRun(500, func() {
		if err := push.Send(p); err != nil {
			t.Fatal(err)
		}
		if _, err := pull.Recv(t.Context()); err != nil {
			t.Fatal(err)
		}
	}); n > 4 {
		t.Errorf("a message allocates %v times, want at most 4", n)
	}
}
