// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport"
)

// check refuses flags that make no sense, alone or together.
func (c *runCmd) check() error {
	for _, check := range []func() error{c.checkNumbers, c.checkNames, c.checkAddresses, c.checkTogether} {
		if err := check(); err != nil {
			return err
		}
	}
	return checkFile(c.JSON)
}

// maxVocab keeps token ids in 31 bits, as vLLM's are.
const maxVocab = 1 << 31

// maxAux bounds --aux-bytes: a few tensors of that size are prepared.
const maxAux = 1 << 30

func (c *runCmd) checkNumbers() error {
	engines, warmup := 1, 0
	if c.Engines != nil {
		engines = *c.Engines
	}
	if c.Warmup != nil {
		warmup = *c.Warmup
	}
	for _, n := range []struct {
		flag               string
		value, least, most int
	}{
		{"--engines", engines, 1, 1 << 16},
		{"--requests", c.Requests, 1, maxVocab},
		{"--concurrency", c.Concurrency, 1, 1 << 16},
		{"--prompt-tokens", c.PromptTokens, 1, maxVocab},
		{"--output-tokens", c.OutputTokens, 1, maxVocab},
		{"--aux-bytes", c.AuxBytes, 0, maxAux},
		{"--vocab", c.Vocab, 1, maxVocab},
		{"--warmup", warmup, 0, maxVocab},
		{"--abort", c.Abort, 0, c.Requests},
		{"--step-time", int(c.StepTime), 0, int(maxStep)},
		{"--max-batch", c.MaxBatch, 1, maxVocab},
	} {
		if n.value < n.least || n.value > n.most {
			return &usageError{n.flag, fmt.Errorf("must be %d to %d, is %d", n.least, n.most, n.value)}
		}
	}
	if c.ConnectTimeout <= 0 {
		return &usageError{"--connect-timeout", fmt.Errorf("must be more than 0, is %v", c.ConnectTimeout)}
	}
	return nil
}

func (c *runCmd) checkNames() error {
	for _, t := range c.Transport {
		if t != "inproc" && t != "ipc" && t != "tcp" {
			return &usageError{"--transport", fmt.Errorf("%q is not inproc, ipc or tcp", t)}
		}
	}
	for _, name := range c.Policy {
		if _, err := newPolicy(name); err != nil {
			return err
		}
	}
	if c.Release != "" {
		if _, err := codec.LayoutOf(c.Release); err != nil {
			return &usageError{"--release", err}
		}
	}
	return nil
}

func (c *runCmd) checkAddresses() error {
	for _, a := range []struct{ flag, address string }{
		{"--handshake", c.Handshake}, {"--input", c.Input}, {"--output", c.Output},
	} {
		if a.address == "" {
			continue
		}
		e, err := transport.ParseEndpoint(a.address, true)
		if err != nil {
			return &usageError{a.flag, err}
		}
		if e.Scheme == "inproc" {
			return &usageError{a.flag, fmt.Errorf("%s ends at this process; other engines need ipc or tcp", a.address)}
		}
		if a.flag == "--handshake" && e.Any() && c.Input == "" {
			return &usageError{a.flag, fmt.Errorf("%s does not say how engines reach this machine: add --input and --output, or name an interface", a.address)}
		}
	}
	return nil
}

func (c *runCmd) checkTogether() error {
	given := c.Handshake != "" || c.Attach
	inproc := c.transports()[0] == "inproc" && len(c.transports()) == 1
	for _, r := range []struct {
		bad        bool
		flag, rule string
	}{
		{c.Attach && c.Handshake != "", "--attach", "goes without --handshake: engines shake hands once in their life"},
		{c.Attach && c.Input == "", "--attach", "needs --input and --output, the addresses that the engines know"},
		{c.Input != "" && c.Output == "", "--input", "goes together with --output"},
		{c.Output != "" && c.Input == "", "--output", "goes together with --input"},
		{len(c.Transport) > 1 && (given || c.Input != ""), "--transport", "takes one name where an address is given"},
		{inproc && c.Handshake != "", "--handshake", "is for engines in other processes, and inproc ends at this one: take ipc or tcp"},
		{inproc && c.Input != "", "--input", "is for engines in other processes, and inproc ends at this one: take ipc or tcp"},
		{len(c.Policy) > 1 && c.Handshake != "", "--policy", "takes one name with --handshake, where engines come once: run again with --attach"},
		{given && c.StepTime != 0, "--step-time", "is of engines that this command starts; with --handshake and --attach others did"},
		{given && c.MaxBatch != engine.DefaultMaxBatch, "--max-batch", "is of engines that this command starts; with --handshake and --attach others did"},
		{c.Raw && c.Interval > 1, "--stream-interval", "is of streams, and with --raw there are none"},
		{c.Attach && c.IDPrefix != "" && len(c.Policy) > 1, "--id-prefix", "would come twice to engines that run on: take one --policy"},
		{c.Interval < 0, "--stream-interval", "must not be negative"},
		{c.Abort > 0 && c.OutputTokens < 2, "--abort", "needs --output-tokens of 2 or more: a request of one token has ended with its first"},
	} {
		if r.bad {
			return &usageError{r.flag, errors.New(r.rule)}
		}
	}
	return nil
}

// checkFile finds out before the run, not after it, that there is no place for
// its result.
func checkFile(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return &usageError{"--json", err}
	}
	return f.Close()
}
