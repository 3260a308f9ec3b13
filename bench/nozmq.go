// SPDX-License-Identifier: Apache-2.0

//go:build !zmq || !cgo

package main

import (
	"errors"

	"github.com/corepipe/corepipe/transport"
)

// withZMQ says that ipc and tcp can be used.
const withZMQ = false

// newZMQ tells how to get what is missing.
func newZMQ() (transport.Transport, func() error, error) {
	return nil, nil, errors.New("built without ZeroMQ, which ipc and tcp need: " +
		"install libzmq3-dev and pkg-config, then: go run -tags zmq ./bench …")
}
