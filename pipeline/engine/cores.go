// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
)

// Cores is a pipeline.Launcher that serves each Core itself, over the Client's
// transport, from Connect to Close: the n-th is the engine of the n-th rank. With
// an inproc.Network nothing leaves the process, and inside testing/synctest the
// steps take fake time. There must be Config.Engines of them.
//
// Engines of a Client that has a coordinator report to it. Lockstep makes them
// ranks of one model.
//
// The death of a Core is seen by the Client as that of any engine. A Core is
// touched by Serve's goroutine until Client.Close has returned.
type Cores []Core

// Lockstep gives the same cores as the ranks of a lockstep group: all of its
// ranks, which are those of the Client. For a part of a group make the ranks with
// NewLockstep, and Cores of some.
func (c Cores) Lockstep() Cores {
	ranks := make(Cores, len(c))
	for i, r := range NewLockstep(0, c...) {
		ranks[i] = r
	}
	return ranks
}

// Launch implements pipeline.Launcher.
func (c Cores) Launch(ctx context.Context, l pipeline.Launch) error {
	if len(c) != len(l.Ranks) {
		return fmt.Errorf("engine: %d cores for %d engines (pipeline.Config.Engines)", len(c), len(l.Ranks))
	}
	all, serving := errgroup.WithContext(ctx)
	for i, rank := range l.Ranks {
		init := l.Init(rank)
		config := Config{
			Transport: l.Transport, Rank: rank, Inputs: init.Inputs, Outputs: init.Outputs, Local: true,
			CoordinatorInput: init.CoordinatorInput, CoordinatorOutput: init.CoordinatorOutput,
			Ready: codec.Ready{StatsAddress: init.StatsAddress},
		}
		all.Go(func() error {
			err := Serve(serving, config, c[i])
			if death := (*DeathError)(nil); errors.As(err, &death) {
				return nil
			}
			return err
		})
		l.Started(rank)
	}
	err := all.Wait()
	if err == nil {
		<-ctx.Done() // all died; the Client may still be asked why
	}
	return err
}
