// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo

package snippets

import (
	"context"

	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/launch"
	"github.com/corepipe/corepipe/transport/zmq"
)

func realEngines(ctx context.Context) (*pipeline.Client, error) {
	zeromq, err := zmq.New() // transport/zmq: needs libzmq and cgo; importing it is all it takes
	if err != nil {
		return nil, err
	}
	return pipeline.Connect(ctx, pipeline.Config{
		Transport: zeromq, Engines: 2,
		Launch: &launch.Handshake{Endpoint: "tcp://127.0.0.1:29550"},
	})
}

var _ = realEngines
