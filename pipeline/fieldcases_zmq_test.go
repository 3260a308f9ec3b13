// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo

package pipeline_test

import (
	"os"
	"testing"

	"github.com/corepipe/corepipe/transport/zmq"
)

func TestP8OverZeroMQ(t *testing.T) {
	net, err := zmq.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := net.Close(); err != nil {
			t.Error(err)
		}
	})
	directory, err := os.MkdirTemp("", "p8") //nolint:usetesting // a test's name is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	paired(t, net, "ipc://"+directory+"/i", "ipc://"+directory+"/o")
}
