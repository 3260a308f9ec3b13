// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/corepipe/corepipe/codec"
)

// codecCmd is the command that measures the codec by itself.
type codecCmd struct {
	Mode         []string `placeholder:"NAME" help:"encode (requests, as a client sends them) or decode (an engine's steps, as a client receives them). Default: both."`
	PromptTokens []int    `placeholder:"N" help:"Tokens of the prompts to encode. Default: 128 and 4096."`
	Rows         []int    `placeholder:"N" help:"Requests of the steps to decode, with a token each. Default: 1, 64 and 256."`
	Release      string   `placeholder:"R" default:"${release}" help:"vLLM release whose messages to take (${default})."`

	Seconds float64 `placeholder:"S" default:"0.3" help:"How long each is measured in a round (${default})."`
	Rounds  int     `placeholder:"N" default:"3" help:"How often each is measured; they take turns (${default})."`

	JSON       string `name:"json" placeholder:"FILE" help:"Write the results as JSON; - is standard output, which then gets nothing else."`
	CPUProfile string `name:"cpu-profile" placeholder:"FILE" help:"Write a profile of this process, for go tool pprof."`
}

// Help goes on top of the flags.
func (c *codecCmd) Help() string {
	return "Measures what it takes to encode messages, and to decode them, with no engine, no transport and no stream: in one goroutine, on messages that differ and come in turn, " +
		"with the memory that a client uses again used again. Checking a request before it is encoded is not in it."
}

// Run measures everything in turn and prints it.
func (c *codecCmd) Run(ctx context.Context, t terminal) error {
	layout, err := c.check()
	if err != nil {
		return err
	}
	all, err := c.trials(layout)
	if err != nil {
		return err
	}
	profile, err := startProfile(c.CPUProfile)
	if err != nil {
		return err
	}
	err = c.measure(ctx, all)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	return errors.Join(err, profile(), c.print(t, all))
}

// measure goes through the trials as often as there are rounds.
func (c *codecCmd) measure(ctx context.Context, all []*trial) error {
	length := time.Duration(c.Seconds * float64(time.Second))
	for range c.Rounds {
		for _, x := range all {
			if err := x.round(ctx, length); err != nil || ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// Bounds of what is measured: the messages are kept, several of each size.
const (
	maxPrompt = 1 << 20
	maxRows   = 1 << 16
)

// check refuses flags that make no sense, alone or together, and fills in defaults.
func (c *codecCmd) check() (*codec.Layout, error) {
	for _, m := range c.Mode {
		if m != encoding && m != decoding {
			return nil, &usageError{"--mode", fmt.Errorf("%q is not encode or decode", m)}
		}
	}
	if len(c.Mode) == 0 {
		c.Mode = []string{encoding, decoding}
	}
	for _, f := range []struct {
		flag, mode string
		values     *[]int
		most       int
		usual      []int
	}{
		{"--prompt-tokens", encoding, &c.PromptTokens, maxPrompt, []int{128, 4096}},
		{"--rows", decoding, &c.Rows, maxRows, []int{1, 64, 256}},
	} {
		if len(*f.values) > 0 && !slices.Contains(c.Mode, f.mode) {
			return nil, &usageError{f.flag, fmt.Errorf("is for --mode %s", f.mode)}
		}
		if len(*f.values) == 0 {
			*f.values = f.usual
		}
		for _, n := range *f.values {
			if n < 1 || n > f.most {
				return nil, &usageError{f.flag, fmt.Errorf("must be 1 to %d, is %d", f.most, n)}
			}
		}
	}
	return c.checkRest()
}

func (c *codecCmd) checkRest() (*codec.Layout, error) {
	if !(c.Seconds > 0 && c.Seconds <= 3600) { // so that NaN is refused
		return nil, &usageError{"--seconds", fmt.Errorf("must be more than 0 and at most 3600, is %v", c.Seconds)}
	}
	if c.Rounds < 1 || c.Rounds > 1000 {
		return nil, &usageError{"--rounds", fmt.Errorf("must be 1 to 1000, is %d", c.Rounds)}
	}
	layout, err := codec.LayoutOf(c.Release)
	if err != nil {
		return nil, &usageError{"--release", err}
	}
	return layout, checkFile(c.JSON)
}
