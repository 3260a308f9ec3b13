// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
)

// Submitter is what the load is put on. *pipeline.Client is one. Slots call it
// at the same time. One that also has Engines() []pipeline.EngineInfo fills in
// Result.Engines, and one that has Messages() int64, the messages received so
// far, Result.Messages.
type Submitter interface {
	Submit(ctx context.Context, r *codec.Request) (*pipeline.Stream, error)
}

// Config says what to send. The zero value sends 1000 requests of 128 prompt
// and 32 output tokens, 64 at a time.
type Config struct {
	Requests     int // measured requests in total. Default 1000
	Concurrency  int // requests live at a time, a goroutine each. Default 64
	PromptTokens int // tokens of each prompt. Default 128
	OutputTokens int // tokens that each request generates. Default 32
	// AuxBytes is the size of a tensor that goes with each request, as an image would:
	// from 256 bytes on in a frame of its own. Default 0: none.
	AuxBytes int
	// Vocab bounds the token ids: those of the prompts are below it, and with
	// Verify those of the outputs too. Default 256.
	Vocab int
	// Warmup is how many requests go before the measured ones; they count for
	// nothing. Default 0.
	Warmup int
	// Abort is how many of the requests are aborted once they have given a
	// token, spread evenly. One that has ended by the time its first token is
	// read is done and not aborted. Default 0.
	Abort int
	// Verify compares each token with what a simulated engine gives: with seed
	// = fnv1a32(request id) + the sum of the prompt, token i is
	// ((seed + i*2654435761) mod 2^32) mod Vocab. A difference fails the request.
	Verify bool
	// NoITL leaves the times between tokens out, and with them a clock reading and a
	// record a token: what other clients' benchmarks measure.
	NoITL bool
	// Received, if set, tells when the last step of an engine was received; it is called
	// after each output. Result.Added is measured from there.
	Received func(rank int) time.Time
	Seed     uint64 // of the prompts. Default 0, which is a seed like any other
	// Prefix starts the request ids, which are to be unique among all that ever
	// were in an engine. Default "bench-" and random characters.
	Prefix string
	// Progress, if set, is called by one goroutine, every 100 ms and once at the
	// end, with the number of measured requests that have ended.
	Progress func(ended int)
}

// progressEvery is the pace of Config.Progress.
const progressEvery = 100 * time.Millisecond

// withDefaults checks c and fills it in.
func (c Config) withDefaults() (Config, error) {
	for _, f := range []struct {
		field string
		value *int
		unset int
	}{
		{"Requests", &c.Requests, 1000},
		{"Concurrency", &c.Concurrency, 64},
		{"PromptTokens", &c.PromptTokens, 128},
		{"OutputTokens", &c.OutputTokens, 32},
		{"AuxBytes", &c.AuxBytes, 0},
		{"Vocab", &c.Vocab, 256},
		{"Warmup", &c.Warmup, 0},
		{"Abort", &c.Abort, 0},
	} {
		if *f.value < 0 {
			return c, fmt.Errorf("load: Config.%s: must not be negative, is %d", f.field, *f.value)
		}
		if *f.value == 0 {
			*f.value = f.unset
		}
	}
	if c.Abort > c.Requests {
		return c, fmt.Errorf("load: Config.Abort: must be at most Requests (%d), is %d", c.Requests, c.Abort)
	}
	if c.Prefix == "" {
		c.Prefix = "bench-" + randomText()
	}
	return c, nil
}
