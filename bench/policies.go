// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/corepipe/corepipe/bench/replay"
	"github.com/corepipe/corepipe/policy"
)

// policiesCmd is the command that compares routing policies.
type policiesCmd struct {
	Scenario []string `placeholder:"NAME" help:"steady, bursty, unequal, prefix, sessions, silent or death. Default: each in turn."`
	Policy   []string `placeholder:"NAME" help:"Policies to compare, the first being what others are compared with. Default: all. One that wraps another is written outer+inner, such as prefix+shortest-wait."`
	Seed     uint64   `placeholder:"N" default:"1" help:"The same seed gives the same trace and the same numbers (${default})."`

	Trace      string `placeholder:"FILE" help:"Replay this trace, of JSON lines, in place of the scenario's own; - is standard input."`
	WriteTrace string `placeholder:"FILE" help:"Write the trace of a scenario, for --trace; - is standard output, and nothing is replayed then."`

	Requests     *int            `group:"Trace" placeholder:"N" help:"Requests."`
	Rate         *float64        `group:"Trace" placeholder:"R" help:"Requests a second, on average."`
	Burstiness   *float64        `group:"Trace" placeholder:"B" help:"Shape of the gamma-distributed times between arrivals: 1 is Poisson, less makes bursts."`
	On           *time.Duration  `group:"Trace" placeholder:"DURATION" help:"With --off: requests arrive for so long, and then none for so long."`
	Off          *time.Duration  `group:"Trace" placeholder:"DURATION" help:"See --on."`
	Prompt       *replay.Lengths `group:"Trace" placeholder:"LENGTHS" help:"Tokens of a prompt, of what follows its prefix, or of what a turn adds: N, uniform:LEAST:MOST, exponential:MEAN or lognormal:MEDIAN:SIGMA."`
	Output       *replay.Lengths `group:"Trace" placeholder:"LENGTHS" help:"Tokens of an answer."`
	Prefixes     *int            `group:"Trace" placeholder:"N" help:"How many texts there are that prompts begin with."`
	PrefixTokens *int            `group:"Trace" placeholder:"N" help:"Tokens of each."`
	Zipf         *float64        `group:"Trace" placeholder:"Z" help:"The n-th prefix is chosen in proportion to 1/n^Z."`
	Turns        *int            `group:"Trace" placeholder:"N" help:"Turns of a conversation on average; each repeats the ones before."`
	Think        *time.Duration  `group:"Trace" placeholder:"DURATION" help:"Mean time from having read an answer to the next turn."`

	Engines         *int           `group:"Engines" placeholder:"N" help:"Simulated engines. The scenario's rate goes with their number, unless --rate says otherwise."`
	Speeds          []float64      `group:"Engines" placeholder:"S" help:"Their speeds by rank, and again from the start: 1,1,0.5."`
	Report          *time.Duration `group:"Engines" placeholder:"DURATION" help:"How often load reports arrive, such as 100ms; 0 is always fresh ones."`
	SilentAt        *time.Duration `group:"Engines" placeholder:"DURATION" help:"When the coordinator falls silent."`
	DieAt           *time.Duration `group:"Engines" placeholder:"DURATION" help:"When engine 0 dies."`
	ReturnAt        *time.Duration `group:"Engines" placeholder:"DURATION" help:"When it is back."`
	StepTime        time.Duration  `group:"Engines" placeholder:"DURATION" help:"What a step takes, without its tokens (10ms)."`
	PromptTokenTime time.Duration  `group:"Engines" placeholder:"DURATION" help:"What a prompt token adds (60µs)."`
	RunningTime     time.Duration  `group:"Engines" placeholder:"DURATION" help:"What a decoded request adds (80µs)."`
	MaxBatch        int            `group:"Engines" placeholder:"N" help:"Requests in a step at most (256)."`
	BatchedTokens   int            `group:"Engines" placeholder:"N" help:"Tokens in a step at most (2048)."`
	KVTokens        int            `group:"Engines" placeholder:"N" help:"Room in the KV cache, in tokens (131072)."`

	JSON string `name:"json" placeholder:"FILE" help:"Write the results as JSON; - is standard output, which then gets nothing else."`
	Plot string `placeholder:"FILE" help:"Draw the results: FILE.svg or FILE.png."`
}

// Help goes on top of the flags.
func (c *policiesCmd) Help() string {
	return "Replays a trace of requests with each policy on simulated engines, in virtual time, and compares what came of it. " +
		"Flags for trace and engines change the scenario. " +
		`A trace file has a line of JSON for each request: {"at": seconds, "prompt": tokens or a list of token ids, "output": tokens}, ` +
		`and if wanted "session": its conversation, whose prompts begin alike, "prefix": a name for the first "prefix_tokens" of a prompt, ` +
		`and "max_tokens": the bound that policies are told.`
}

// Run replays each scenario with each policy and prints what they gave.
func (c *policiesCmd) Run(ctx context.Context, t terminal) error {
	scenarios, err := c.scenarios(t)
	if err != nil {
		return err
	}
	draw, err := newDrawing(c.Plot, "plot ./bench policies")
	if err != nil {
		return err
	}
	if c.WriteTrace == "-" {
		return scenarios[0].trace.Write(t.out)
	}
	if c.WriteTrace != "" {
		if err := writeFile(c.WriteTrace, scenarios[0].trace.Write); err != nil {
			return err
		}
	}
	all := &comparison{Seed: c.Seed}
	for _, s := range scenarios {
		if err := c.compare(ctx, s, all); err != nil {
			if ctx.Err() != nil {
				err = errInterrupted
			}
			return err
		}
		if c.JSON != "-" {
			fmt.Fprintln(t.out, newPolicyTable(all.Scenarios[len(all.Scenarios)-1]))
		}
	}
	if c.JSON != "-" {
		if len(scenarios) > 1 {
			fmt.Fprintln(t.out, all.newSummary())
		}
		fmt.Fprintln(t.out, c.legend())
	}
	return errors.Join(writeJSON(c.JSON, t.out, all), draw(all))
}

// compare replays a scenario and adds what came of it to all.
func (c *policiesCmd) compare(ctx context.Context, s *scenario, all *comparison) error {
	names := c.policies()
	var policies []policy.Policy
	for _, name := range names {
		p, err := namedPolicy(name, c.Seed, s.Fleet)
		if err != nil {
			return &usageError{"--policy", err}
		}
		policies = append(policies, p)
	}
	results, err := replay.Run(ctx, s.Fleet, s.trace, policies...)
	if err != nil {
		return &usageError{err: err} // numbers that make no sense; or ctx has ended
	}
	for i, r := range results {
		r.Policy = names[i]
	}
	all.add(s, results)
	return nil
}

// legend says how to read the tables, and what to try next.
func (c *policiesCmd) legend() string {
	next := "go run -tags plot ./bench policies --plot FILE.svg  draws it"
	if c.Plot != "" {
		next = "--scenario unequal --rate 200  is a harder one"
	}
	return "first token, end to end: from arrival, the median and the 99th percentile; x: against " + c.policies()[0] + "; *: the best\n" +
		"max/mean: outstanding requests of the fullest engine at any moment, over the average engine's\n" +
		"hits: share of prompt tokens found in the engine's prefix cache\n\n" +
		"next: go run ./bench policies " + next
}

// writeFile makes a file of what write writes.
func writeFile(path string, write func(w io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
