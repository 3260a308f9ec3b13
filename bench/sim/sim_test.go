// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/bench/load"
	"github.com/corepipe/corepipe/bench/sim"
	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/pipeline/launch"
	"github.com/corepipe/corepipe/transport/inproc"
)

const handshake = "inproc://handshake"

func TestEnginesAreMetByTheirHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &inproc.Network{}
		engines, err := sim.Start(t.Context(), sim.Config{
			Transport: network, Handshake: handshake, Engines: 3, FirstRank: 5, Release: "0.20.2",
		})
		if err != nil {
			t.Fatal(err)
		}
		client, err := pipeline.Connect(t.Context(), pipeline.Config{
			Transport: network, Engines: 3, FirstRank: 5, Launch: &launch.Handshake{Endpoint: handshake}, Release: "0.20.2",
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := load.Run(t.Context(), client, load.Config{Requests: 60, Verify: true})
		if err != nil || r.Done != 60 || r.Engines[2].Rank != 7 || r.Engines[2].Version != "0.20.2" {
			t.Errorf("got %+v, %v", r, err)
		}
		if err := client.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := errors.Join(engines.Stop(), engines.Stop()); err != nil {
			t.Error(err)
		}
		<-engines.Done()
	})
}

func TestADeathIsToldByWaitAndLeavesTheOthersRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &inproc.Network{}
		engines, err := sim.Start(t.Context(), sim.Config{
			Transport: network, Handshake: handshake, Engines: 2,
			Core: func(rank int) engine.Core {
				return &engine.Sim{Script: func(int, *codec.Request) engine.Outcome { return engine.Outcome{Die: rank == 1} }}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		client, err := pipeline.Connect(t.Context(), pipeline.Config{
			Transport: network, Engines: 2, Launch: &launch.Handshake{Endpoint: handshake},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := load.Run(t.Context(), client, load.Config{Requests: 50, Concurrency: 2})
		if err != nil || r.Failed != 1 || r.Done != 49 {
			t.Errorf("got %+v, %v", r, err)
		}
		if err := client.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		err = engines.Stop()
		if death := (*engine.DeathError)(nil); !errors.As(err, &death) || death.Rank != 1 {
			t.Errorf("got %v, want the death of engine 1", err)
		}
	})
}

func TestAConfigThatMakesNoSenseIsRefused(t *testing.T) {
	network := &inproc.Network{}
	for field, c := range map[string]sim.Config{
		"Transport": {Handshake: handshake},
		"Handshake": {Transport: network},
		"Engines":   {Transport: network, Handshake: handshake, Engines: 2, FirstRank: 65535},
	} {
		if _, err := sim.Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), "Config."+field+":") {
			t.Errorf("%s: got %v", field, err)
		}
	}
}
