// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// Config says what to coordinate. Transport is required.
type Config struct {
	Transport transport.Transport
	// Engines is the number of ranks, which are 0 to Engines-1, over all
	// clients. Default 1.
	Engines int
	// Lockstep says that the engines step together: a mixture-of-experts model.
	// vLLM: enable_wave_coordination.
	Lockstep bool
	// Front, BackPublish and BackOutput are the addresses to bind, in the terms
	// of Addresses. Default "tcp://127.0.0.1:0", a port of the system's choice.
	Front, BackPublish, BackOutput string
	// Release is the vLLM release of engines and clients. Clients before 0.29.0
	// are told no cache usage. Default codec.DefaultRelease.
	Release string
	// Pace says when loads are published.
	Pace Pace

	// Skipped hears of each message that was not taken. It is called from the
	// loop that coordinates: quickly.
	Skipped func(*SkippedError)

	layout *codec.Layout // of Release
}

// buffer is the capacity of the channels between the stages: the pipeline's
// default, where most of the gain is.
const buffer = 16

// maxFrame keeps strangers small. Counts of the most engines there can be need
// a quarter of it.
const maxFrame = 4 << 20

// maxEngines is what an engine's identity can name.
const maxEngines = codec.MaxRank + 1

const defaultAddress = "tcp://127.0.0.1:0"

// withDefaults checks c and fills it in.
func (c Config) withDefaults() (Config, error) {
	c.Engines = cmp.Or(c.Engines, 1)
	switch {
	case c.Transport == nil:
		return c, errors.New("coordinator: Config.Transport: is required")
	case c.Engines < 1 || c.Engines > maxEngines:
		return c, fmt.Errorf("coordinator: Config.Engines: must be 1 to %d, is %d", maxEngines, c.Engines)
	case min(c.Pace.Interval, c.Pace.Keepalive, c.Pace.Quiet) < 0:
		return c, fmt.Errorf("coordinator: Config.Pace: must not be negative, is %+v", c.Pace)
	}
	c.Front = cmp.Or(c.Front, defaultAddress)
	c.BackPublish = cmp.Or(c.BackPublish, defaultAddress)
	c.BackOutput = cmp.Or(c.BackOutput, defaultAddress)
	if c.Skipped == nil {
		c.Skipped = func(*SkippedError) {}
	}
	var err error
	if c.layout, err = codec.LayoutOf(cmp.Or(c.Release, codec.DefaultRelease)); err != nil {
		return c, fmt.Errorf("coordinator: Config.Release: %w", err)
	}
	return c, nil
}
