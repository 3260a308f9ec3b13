// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// Config says where an engine connects to. Transport is required, and either
// Handshake or Inputs and Outputs.
type Config struct {
	Transport transport.Transport
	Rank      int // 0 to 65535
	// Handshake is the launcher's address, which tells the others.
	Handshake string
	// Inputs and Outputs are the clients' addresses, in order of client index.
	Inputs, Outputs []string
	// CoordinatorInput and CoordinatorOutput are those of a data-parallel
	// coordinator, if there is one, in the terms of codec.Init.
	CoordinatorInput, CoordinatorOutput string
	// ExternalLB says that somebody in front of the clients spreads the load:
	// the coordinator is told nothing of it, nor clients of finished requests.
	// vLLM: data_parallel_external_lb.
	ExternalLB bool
	// Release is the vLLM release that the engine speaks. Default: the one that
	// the Core, as a Describer, is of, or codec.DefaultRelease.
	Release string
	// Ready is what the engine says of itself. Zero fields come from the Core
	// if it is a Describer, or have the defaults of a small engine: MaxModelLen
	// 131,072, 65,536 blocks of 16 tokens, Version as Release.
	Ready codec.Ready
	// Local says in the handshake that the launcher started this engine next to
	// its front end. Headless says that it has none; an engine that is not
	// Local is always headless, as launchers demand.
	Local, Headless bool
	// ParallelConfigHash goes with the last message of the handshake if set.
	ParallelConfigHash string
	// HandshakeTimeout bounds the wait for the launcher, and that for the
	// coordinator. Default 5 min, as vLLM's for the launcher.
	HandshakeTimeout time.Duration

	// Skipped hears of each message that was not taken: malformed, or of a
	// client that is not there. It is called from a stage: quickly.
	Skipped func(error)
	// Counters is filled in as the engine runs, if set.
	Counters *Counters
}

// Defaults of Config.
const (
	DefaultHandshakeTimeout = 5 * time.Minute
	DefaultMaxModelLen      = 131072
	DefaultBlocks           = 65536
	DefaultBlockSize        = 16
)

// buffer is the capacity of the channels between the stages: the pipeline's
// default, where most of the gain is.
const buffer = 16

// outputLinger lets the death notice get out, as long as vLLM does.
const outputLinger = 4 * time.Second

// withDefaults checks c and fills it in.
func (c Config) withDefaults(core Core) (Config, error) {
	switch {
	case c.Transport == nil:
		return c, errors.New("engine: Config.Transport: is required")
	case c.Rank < 0 || c.Rank > codec.MaxRank:
		return c, fmt.Errorf("engine: Config.Rank: must be 0 to 65535, is %d", c.Rank)
	case c.Handshake == "" && len(c.Inputs) == 0:
		return c, errors.New("engine: Config.Handshake: is required without Inputs and Outputs")
	case len(c.Inputs) != len(c.Outputs):
		return c, fmt.Errorf("engine: Config.Outputs: one for each of %d inputs, are %d", len(c.Inputs), len(c.Outputs))
	case (c.CoordinatorInput == "") != (c.CoordinatorOutput == ""):
		return c, errors.New("engine: Config.CoordinatorOutput: is given together with CoordinatorInput")
	}
	if r, ok := core.(*Rank); ok && r.Index() != c.Rank {
		return c, fmt.Errorf("engine: Config.Rank: must be %d, the Core's place in its group, is %d", r.Index(), c.Rank)
	}
	c.HandshakeTimeout = cmp.Or(c.HandshakeTimeout, DefaultHandshakeTimeout)
	if c.Skipped == nil {
		c.Skipped = func(error) {}
	}
	if c.Counters == nil {
		c.Counters = new(Counters)
	}
	var own codec.Ready
	if d, ok := core.(Describer); ok {
		own = d.Ready()
	}
	c.Release = cmp.Or(c.Release, own.Version, codec.DefaultRelease)
	c.fillReady(own)
	return c, nil
}

// fillReady completes what the engine says of itself.
func (c *Config) fillReady(own codec.Ready) {
	r := &c.Ready
	r.MaxModelLen = cmp.Or(r.MaxModelLen, own.MaxModelLen, DefaultMaxModelLen)
	r.BlockSize = cmp.Or(r.BlockSize, own.BlockSize, DefaultBlockSize)
	r.NumGPUBlocks = cmp.Or(r.NumGPUBlocks, own.NumGPUBlocks, DefaultBlocks)
	r.MaxNumSeqs = cmp.Or(r.MaxNumSeqs, own.MaxNumSeqs, DefaultMaxBatch)
	r.MaxNumBatchedTokens = cmp.Or(r.MaxNumBatchedTokens, own.MaxNumBatchedTokens, 8192)
	r.Version = cmp.Or(r.Version, c.Release)
	r.DType = cmp.Or(r.DType, "bfloat16")
	r.InstanceID = cmp.Or(r.InstanceID, "corepipe-"+strconv.Itoa(c.Rank))
	r.DataParallelRank = cmp.Or(r.DataParallelRank, c.Rank)
	r.WorldSize = cmp.Or(r.WorldSize, 1)
	r.DataParallelSize = cmp.Or(r.DataParallelSize, own.DataParallelSize, 1)
	r.TensorParallelSize = cmp.Or(r.TensorParallelSize, 1)
	r.PipelineParallelSize = cmp.Or(r.PipelineParallelSize, 1)
	r.DecodeContextParallelSize = cmp.Or(r.DecodeContextParallelSize, 1)
	r.KVCacheSizeTokens = cmp.Or(r.KVCacheSizeTokens, new(r.NumGPUBlocks*r.BlockSize))
	r.EffectiveAttentionBlockSize = cmp.Or(r.EffectiveAttentionBlockSize, new(r.BlockSize))
	r.EnableSleepMode = true
}

// identity is the engine's name on every socket.
func (c *Config) identity() []byte { return []byte(codec.Identity(c.Rank)) }
