// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo

package main

import (
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/zmq"
)

// withZMQ says that ipc and tcp can be used.
const withZMQ = true

// newZMQ is ipc and tcp. The function it returns ends the transport.
func newZMQ() (transport.Transport, func() error, error) {
	t, err := zmq.New()
	if err != nil {
		return nil, nil, err
	}
	return t, t.Close, nil
}
