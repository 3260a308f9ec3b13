// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// peer is a client that is measured.
type peer struct{ name, heading string }

// allPeers are in the order of the columns.
func allPeers() []peer {
	return []peer{
		{"floor", "floor"},
		{"streams", "streams"},
		{"merged", "merged"},
		{"raw", "raw feed"},
		{"memory", "in memory"},
		{"vllm", "vLLM's client"},
	}
}

// scope says what its CPU covers, as load.Result.CPUScope does.
func (p peer) scope() string {
	if p.name == "memory" {
		return "process"
	}
	return "client"
}

// maxGrandparent leaves room for the paths of sockets: vLLM's have 37 bytes more
// than the directory, of the 107 that there may be.
const maxGrandparent = 48

// bounded runs f, which measures once, for maxRun at most. All that it and its engines
// leave in the file system is in a directory that is removed.
func bounded[F any](ctx context.Context, f func(ctx context.Context, directory string) (F, error)) (v F, err error) {
	parent := os.TempDir()
	if len(parent) > maxGrandparent {
		parent = "/tmp"
	}
	directory, err := os.MkdirTemp(parent, "corepipe-")
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	ctx, cancel := context.WithTimeoutCause(ctx, maxRun, errors.New("had not ended after "+maxRun.String()))
	defer cancel()
	return f(ctx, directory)
}

// run measures a client once.
func (c *compareCmd) run(ctx context.Context, p peer, s setting) (figures, error) {
	return bounded(ctx, func(ctx context.Context, directory string) (figures, error) {
		return c.client(ctx, p, s, directory)
	})
}

func (c *compareCmd) client(ctx context.Context, p peer, s setting, directory string) (f figures, err error) {
	switch p.name {
	case "floor":
		out, err := c.foreign(s, child{path: c.Floor, directory: directory}).run(ctx)
		if err != nil {
			return f, err
		}
		return floorFigures(out, s)
	case "vllm":
		v := c.foreign(s, child{path: filepath.Join(c.VLLM, "bin", "python"), directory: directory})
		v.args = append([]string{c.VLLMFile}, v.args...)
		out, err := v.run(ctx)
		if err != nil {
			return f, err
		}
		return vllmFigures(out, s)
	}
	return c.ours(ctx, p, s, directory)
}

// foreign is a client that brings its engines itself; they all have the same flags.
func (c *compareCmd) foreign(s setting, of child) child {
	of.args = append(of.args,
		"--requests", strconv.Itoa(s.Requests), "--concurrency", strconv.Itoa(s.Concurrency),
		"--prompt-tokens", strconv.Itoa(s.PromptTokens), "--output-tokens", strconv.Itoa(s.OutputTokens),
		"--engines", strconv.Itoa(s.Engines), "--transport", s.Transport, "--step-us", strconv.FormatInt(s.StepTime, 10),
		"--max-batch", strconv.Itoa(maxBatch), "--warmup", strconv.Itoa(s.warmup()), "--mock", c.Mock)
	return of
}

// ours is this command in a process of its own, in memory or against a mock engine.
func (c *compareCmd) ours(ctx context.Context, p peer, s setting, directory string) (f figures, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	client := child{path: self, directory: directory, args: []string{
		"run", "--engines", strconv.Itoa(s.Engines), "--requests", strconv.Itoa(s.Requests), "--concurrency", strconv.Itoa(s.Concurrency),
		"--prompt-tokens", strconv.Itoa(s.PromptTokens), "--output-tokens", strconv.Itoa(s.OutputTokens),
		"--warmup", strconv.Itoa(s.warmup()), "--vocab", strconv.Itoa(vocab), "--id-prefix", idPrefix, "--no-itl", "--json", "-",
	}}
	switch p.name {
	case "raw":
		client.args = append(client.args, "--raw")
	case "merged":
		client.args = append(client.args, "--stream-interval", strconv.Itoa(mergedInto))
	case "memory":
		s.Transport = "inproc"
		client.args = append(client.args, "--transport", s.Transport, "--step-time", s.step().String())
		out, err := client.run(ctx)
		if err != nil {
			return f, err
		}
		return ourFigures(out, s, "process")
	}
	endpoint := "ipc://" + filepath.Join(directory, "h")
	client.args = append(client.args, "--transport", s.Transport, "--handshake", endpoint, "--connect-timeout", "60s")
	out, err := c.engines(s, endpoint, directory).around(ctx, client)
	if err != nil {
		return f, err
	}
	return ourFigures(out, s, "client")
}

// Requests are the same for all: tokens below vocab, at most maxBatch of them in a
// step, and ids as long as those of the others, with the request's number.
const (
	maxBatch   = 256
	vocab      = 128000
	mergedInto = 8 // tokens, of the streams with merged delivery
	idPrefix   = "cmpl-0123456789abcdef-000000000000"
)
