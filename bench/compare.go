// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// compareCmd is the command that measures this client beside others.
type compareCmd struct {
	Mock     string `placeholder:"FILE" env:"COREPIPE_MOCK" help:"The engines: a mock_engine, a stand-in in C."`
	Floor    string `placeholder:"FILE" env:"COREPIPE_FLOOR" help:"The floor: a raw_bench, the same traffic in C with nothing built from it."`
	VLLM     string `name:"vllm" placeholder:"DIR" env:"COREPIPE_VLLM" help:"A virtual environment with vLLM, whose own client is then measured too."`
	VLLMFile string `name:"vllm-bench" placeholder:"FILE" env:"COREPIPE_VLLM_BENCH" help:"What drives that client: a bench.py. Default: python_bench/bench.py beside the directory of --mock."`

	Client    []string        `placeholder:"NAME" help:"Which to measure: floor, streams, merged (a reader is woken for 8 tokens), raw, memory or vllm. Default: all, as far as the files are given."`
	Workload  []string        `placeholder:"NAME" help:"short (20,000 requests of 128 prompt and 32 output tokens, 256 at a time) or long (2,000 of 4096 and 128, 64 at a time). Default: both."`
	StepTime  []time.Duration `placeholder:"DURATION" help:"What an engine's step takes; 0s is as fast as it can. Default: 1ms."`
	Engines   []int           `placeholder:"N" help:"Default: 1 and 4."`
	Transport []string        `placeholder:"NAME" help:"ipc or tcp. Default: ipc."`
	All       bool            `help:"Where nothing else is said: step times of 0s, 100µs, 1ms and 5ms, 1 and 4 engines, ipc and tcp. More than an hour."`
	Rounds    int             `placeholder:"N" default:"3" help:"How often each client runs; they take turns (${default})."`
	Quick     bool            `help:"A twentieth of the requests: shows that all works, the numbers are noise."`

	JSON string `name:"json" placeholder:"FILE" help:"Write all rounds as JSON; - is standard output, which then gets nothing else."`
	Plot string `placeholder:"FILE" help:"Draw the results: FILE.svg or FILE.png."`
}

// Help goes on top of the flags.
func (c *compareCmd) Help() string {
	return "Measures this client, the floor below any client and vLLM's own one in turn, each in a process of its own against the same engines, " +
		"and compares them by the ratios of each round. CPU is that of the client's process while it measures. Paced steps are the measure: " +
		"with a step time of 0 the engine sends as few tokens a message as the client lets it, and the numbers are of both."
}

// Run measures all settings in turn and prints each once it is done.
func (c *compareCmd) Run(ctx context.Context, t terminal) error {
	peers, err := c.check()
	if err != nil {
		return err
	}
	draw, err := newDrawing(c.Plot, "zmq,plot ./bench compare")
	if err != nil {
		return err
	}
	settings := c.settings()
	shown := newCompareProgress(t, len(settings)*len(peers)*c.Rounds)
	defer shown.erase()
	all := newReport(c.Rounds, c.Quick)
	for _, s := range settings {
		b, failed := c.measure(ctx, s, peers, shown)
		if b.full() > 0 {
			b.sum()
			all.Blocks = append(all.Blocks, b)
			shown.erase()
			if c.JSON != "-" {
				fmt.Fprintln(t.out, b.table())
			}
		}
		if err = failed; err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		err = errInterrupted // what failed meanwhile did so for that reason
	}
	if len(all.Blocks) == 0 {
		return err
	}
	if c.JSON != "-" {
		fmt.Fprintln(t.out, all.legend())
	}
	return errors.Join(err, writeJSON(c.JSON, t.out, all), draw(all))
}

// measure runs all peers in a setting, as often as there are rounds. Each round
// begins with another one, so that none always has the same one before it. What
// there is of it comes with an error too.
func (c *compareCmd) measure(ctx context.Context, s setting, peers []peer, shown *compareProgress) (*block, error) {
	b := &block{setting: s}
	for _, p := range peers {
		b.Clients = append(b.Clients, &clientRounds{Name: p.name, Scope: p.scope()})
	}
	for round := range c.Rounds {
		for i := range peers {
			k := (i + round) % len(peers)
			shown.next(peers[k].name, s, round)
			f, err := c.run(ctx, peers[k], s)
			if err != nil {
				return b, fmt.Errorf("compare: %s, %s: %w", peers[k].name, s, err)
			}
			b.Clients[k].Rounds = append(b.Clients[k].Rounds, f)
		}
	}
	return b, nil
}
