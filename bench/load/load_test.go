// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/bench/load"
	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport/inproc"
)

// connect gives a client of the given cores, over memory.
func connect(t *testing.T, cores ...engine.Core) *pipeline.Client {
	t.Helper()
	client, err := pipeline.Connect(t.Context(), pipeline.Config{
		Transport: &inproc.Network{}, Engines: len(cores), Launch: engine.Cores(cores),
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// run puts a load on cores, in fake time.
func run(t *testing.T, c load.Config, cores ...engine.Core) *load.Result {
	t.Helper()
	client := connect(t, cores...)
	defer closeClient(t, client)
	r, err := load.Run(t.Context(), client, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func closeClient(t *testing.T, c *pipeline.Client) {
	t.Helper()
	if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func paced() *engine.Sim { return &engine.Sim{StepTime: 10 * time.Millisecond} }

func TestAllRequestsAreDoneOnAllEngines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, load.Config{Requests: 200, Concurrency: 20, OutputTokens: 8, Verify: true, Warmup: 30}, paced(), paced())
		if r.Done != 200 || r.Failed != 0 || r.Aborted != 0 || r.OutputTokens != 1600 {
			t.Errorf("got %+v", r)
		}
		if len(r.Engines) != 2 || r.Engines[0].Requests+r.Engines[1].Requests != 200 {
			t.Errorf("engines: got %+v, want all requests on two", r.Engines)
		}
		if v := r.Engines[0].Version; v != codec.DefaultRelease {
			t.Errorf("version: got %q", v)
		}
	})
}

func TestTimesAreThoseOfTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, load.Config{Requests: 10, Concurrency: 1, OutputTokens: 5}, paced())
		near := func(name string, got, want float64) {
			if got < want*0.998 || got > want*1.002 {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
		near("wall", r.Wall, 0.5)
		near("requests per second", r.RequestsPerSecond, 20)
		near("tokens per second", r.TokensPerSecond, 100)
		for _, p := range []load.Quantiles{r.TTFT, r.ITL} {
			near("p50", p.P50, 10)
			near("p90", p.P90, 10)
			near("p99", p.P99, 10)
		}
		near("end to end", r.E2E.P50, 50)
	})
}

func TestAbortEndsSomeRequestsAfterTheirFirstToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, paced(), paced())
		defer closeClient(t, client)
		r, err := load.Run(t.Context(), client, load.Config{Requests: 60, Concurrency: 10, OutputTokens: 8, Abort: 7})
		if err != nil {
			t.Fatal(err)
		}
		if r.Aborted != 7 || r.Done != 53 || r.Failed != 0 || r.OutputTokens != 53*8+7 {
			t.Errorf("got %+v", r)
		}
		for range 2 { // the next steps tell what is left
			if _, err := load.Run(t.Context(), client, load.Config{Requests: 2, Concurrency: 2, OutputTokens: 2}); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range client.Engines() {
			if e.InFlight != 0 || e.Load.Running > 1 || e.Load.Waiting > 0 {
				t.Errorf("engine %d still has requests: %+v", e.Rank, e)
			}
		}
	})
}

func TestFailuresAreCountedByText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := paced()
		sim.Script = func(n int, _ *codec.Request) engine.Outcome {
			if n%4 == 0 {
				return engine.Outcome{Finish: codec.FinishError}
			}
			if n == 5 {
				return engine.Outcome{Tokens: []uint32{1, 2, 3}}
			}
			return engine.Outcome{}
		}
		r := run(t, load.Config{Requests: 40, Concurrency: 4, OutputTokens: 8, Prefix: "it"}, sim)
		if r.Done != 29 || r.Failed != 11 {
			t.Errorf("got %d done and %d failed, want 29 and 11", r.Done, r.Failed)
		}
		want := []load.ErrorCount{
			{Error: "pipeline: request *: engine 0 finished it with error", Count: 10},
			{Error: "load: request * ended after 3 of 8 tokens", Count: 1},
		}
		for i := range r.Errors {
			if !strings.Contains(r.Errors[i].First, "request it-") {
				t.Errorf("first: got %q, want a request's id in it", r.Errors[i].First)
			}
			r.Errors[i].First = ""
		}
		if diff := cmp.Diff(want, r.Errors); diff != "" {
			t.Error("(-want +got)", diff)
		}
	})
}

func TestVerifyFailsARequestWithAWrongToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := paced()
		sim.Script = func(n int, r *codec.Request) engine.Outcome {
			if n != 3 {
				return engine.Outcome{}
			}
			tokens := []uint32{0, 0, 0, 0}
			for i := range tokens {
				tokens[i] = engine.Token(engine.Seed(r.ID, r.Prompt), i, 256)
			}
			tokens[2]++
			return engine.Outcome{Tokens: tokens, Finish: codec.FinishLength}
		}
		r := run(t, load.Config{Requests: 10, OutputTokens: 4, Verify: true}, sim)
		if r.Done != 9 || r.Failed != 1 || len(r.Errors) != 1 {
			t.Fatalf("got %+v", r)
		}
		if e := r.Errors[0]; !strings.Contains(e.Error, "verify") || !strings.Contains(e.First, "token 2 is") {
			t.Errorf("got %+v", e)
		}
	})
}

func TestADeadEngineFailsWhatItHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := paced()
		sim.Script = func(n int, _ *codec.Request) engine.Outcome { return engine.Outcome{Die: n == 10} }
		r := run(t, load.Config{Requests: 40, Concurrency: 4, OutputTokens: 4}, sim)
		if r.Done != 8 || r.Failed != 32 || len(r.Errors) == 0 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestCancellingStopsEarlyAndKeepsWhatWasDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, paced())
		defer closeClient(t, client)
		ctx, cancel := context.WithTimeout(t.Context(), 105*time.Millisecond)
		defer cancel()
		last := 0
		r, err := load.Run(ctx, client, load.Config{
			Requests: 1000, Concurrency: 2, OutputTokens: 4, Progress: func(ended int) { last = ended },
		})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Interrupted || r.Done != 4 || r.Failed != 0 || last != 4 {
			t.Errorf("got %+v, last progress %d", r, last)
		}
	})
}

func TestARefusedSubmitIsAFailure(t *testing.T) {
	r, err := load.Run(t.Context(), refusing{}, load.Config{Requests: 7})
	if err != nil {
		t.Fatal(err)
	}
	want := []load.ErrorCount{{Error: "no", Count: 7, First: "no"}}
	if diff := cmp.Diff(want, r.Errors); r.Failed != 7 || diff != "" {
		t.Errorf("failed %d, errors (-want +got) %s", r.Failed, diff)
	}
}

type refusing struct{}

func (refusing) Submit(context.Context, *codec.Request) (*pipeline.Stream, error) {
	return nil, errors.New("no")
}

func TestAConfigThatMakesNoSenseIsRefused(t *testing.T) {
	for field, c := range map[string]load.Config{
		"Requests":     {Requests: -1},
		"Concurrency":  {Concurrency: -1},
		"PromptTokens": {PromptTokens: -1},
		"OutputTokens": {OutputTokens: -1},
		"AuxBytes":     {AuxBytes: -1},
		"Vocab":        {Vocab: -1},
		"Warmup":       {Warmup: -1},
		"Abort":        {Requests: 3, Abort: 4},
	} {
		if _, err := load.Run(t.Context(), refusing{}, c); err == nil || !strings.Contains(err.Error(), "Config."+field+":") {
			t.Errorf("%s: got %v", field, err)
		}
	}
}
