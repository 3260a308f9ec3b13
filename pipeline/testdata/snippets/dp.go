// SPDX-License-Identifier: Apache-2.0

package snippets

import (
	"context"

	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/pipeline/launch"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport"
)

func dataParallel(ctx context.Context, network transport.Transport) (*pipeline.Client, error) {
	ranks, err := coordinator.Start(ctx, coordinator.Config{Transport: network, Engines: 4})
	if err != nil {
		return nil, err
	}
	return pipeline.Connect(ctx, pipeline.Config{
		Transport: network, Engines: 4, Coordinator: ranks.Addresses(),
		Launch: &launch.Handshake{Endpoint: "tcp://127.0.0.1:29550"},
		Policy: &policy.Session{Next: &policy.ShortestWait{}},
	})
}

var _ = dataParallel
