// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/bench/load"
	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
)

// runRaw puts a load on the raw feed of cores, in fake time.
func runRaw(t *testing.T, c load.Config, cores ...engine.Core) *load.Result {
	t.Helper()
	client := connect(t, cores...)
	defer closeClient(t, client)
	r, err := load.RunRaw(t.Context(), client, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheRawFeedMeasuresWhatStreamsDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := load.Config{Requests: 203, Concurrency: 20, OutputTokens: 8, Verify: true, Warmup: 30}
		streams, raw := run(t, c, paced(), paced()), runRaw(t, c, paced(), paced())
		if raw.Done != 203 || raw.Failed != 0 || raw.OutputTokens != 1624 {
			t.Errorf("got %+v", raw)
		}
		if raw.Messages == 0 || raw.TokensPerMessage == 0 { // streams do not know how many there were
			t.Errorf("got %d messages", raw.Messages)
		}
		if len(raw.Engines) != 2 || raw.Engines[0].Requests+raw.Engines[1].Requests != 203 {
			t.Errorf("engines: got %+v", raw.Engines)
		}
		const step = 10.1 // ms: in which step a request comes in is chance
		for name, d := range map[string]float64{
			"first token": raw.TTFT.P50 - streams.TTFT.P50, "end to end": raw.E2E.P50 - streams.E2E.P50,
			"between tokens, in steps": (raw.ITL.P50 - streams.ITL.P50) * step, "wall, in tenths of it": (raw.Wall/streams.Wall - 1) * 5 * step,
		} {
			if d > step || d < -step {
				t.Errorf("%s: streams %+v, raw %+v", name, streams, raw)
			}
		}
	})
}

func TestTheTimesOfTheRawFeedAreThoseOfTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runRaw(t, load.Config{Requests: 10, Concurrency: 1, OutputTokens: 5}, paced())
		for name, got := range map[string]float64{
			"wall, s": r.Wall / 0.5, "first token": r.TTFT.P99 / 10, "between tokens": r.ITL.P99 / 10, "end to end": r.E2E.P99 / 50,
		} {
			if got < 0.998 || got > 1.002 {
				t.Errorf("%s: %v of what it is to be", name, got)
			}
		}
	})
}

func TestTheRawFeedAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, paced(), paced())
		defer closeClient(t, client)
		r, err := load.RunRaw(t.Context(), client, load.Config{Requests: 60, Concurrency: 10, OutputTokens: 8, Abort: 7})
		if err != nil {
			t.Fatal(err)
		}
		if r.Aborted != 7 || r.Done != 53 || r.Failed != 0 || r.OutputTokens != 53*8+7 {
			t.Errorf("got %+v", r)
		}
		for _, e := range client.Engines() {
			if e.InFlight != 0 {
				t.Errorf("engine %d still has requests: %+v", e.Rank, e)
			}
		}
	})
}

func TestFailuresInTheRawFeedAreCountedByText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := paced()
		sim.Script = func(n int, _ *codec.Request) engine.Outcome {
			switch {
			case n%4 == 0:
				return engine.Outcome{Finish: codec.FinishError}
			case n == 5:
				return engine.Outcome{Tokens: []uint32{1, 2, 3}, Finish: codec.FinishLength}
			}
			return engine.Outcome{}
		}
		r := runRaw(t, load.Config{Requests: 40, Concurrency: 4, OutputTokens: 8, Prefix: "it"}, sim)
		var texts []string
		for _, e := range r.Errors {
			texts = append(texts, e.Error)
		}
		want := []string{"load: request *: finished with error", "load: request * ended after 3 of 8 tokens"}
		if diff := cmp.Diff(want, texts); r.Done != 29 || r.Failed != 11 || diff != "" {
			t.Errorf("%d done, %d failed, (-want +got) %s", r.Done, r.Failed, diff)
		}
	})
}

func TestVerifyFailsAWrongTokenInTheRawFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := paced()
		sim.Script = func(n int, _ *codec.Request) engine.Outcome {
			if n == 3 {
				return engine.Outcome{Tokens: []uint32{1, 2, 3, 4}, Finish: codec.FinishLength}
			}
			return engine.Outcome{}
		}
		r := runRaw(t, load.Config{Requests: 10, OutputTokens: 4, Verify: true}, sim)
		if r.Done != 9 || r.Failed != 1 || !strings.Contains(r.Errors[0].Error, "verify") {
			t.Errorf("got %+v", r)
		}
	})
}

func TestADeadEngineFailsAllThatIsLeftInTheRawFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := paced()
		sim.Script = func(n int, _ *codec.Request) engine.Outcome { return engine.Outcome{Die: n == 10} }
		r := runRaw(t, load.Config{Requests: 40, Concurrency: 4, OutputTokens: 4}, sim)
		if r.Done != 8 || r.Failed != 32 || r.Interrupted || len(r.Errors) != 1 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestCancellingTheRawFeedKeepsWhatWasDoneAndAbortsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, paced())
		defer closeClient(t, client)
		ctx, cancel := context.WithTimeout(t.Context(), 105*time.Millisecond)
		defer cancel()
		r, err := load.RunRaw(ctx, client, load.Config{Requests: 1000, Concurrency: 2, OutputTokens: 4})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Interrupted || r.Done != 4 || r.Failed != 0 {
			t.Errorf("got %+v", r)
		}
		if n := client.Engines()[0].InFlight; n != 0 {
			t.Errorf("%d are still in flight", n)
		}
		if again, err := load.RunRaw(t.Context(), client, load.Config{Requests: 3}); err != nil || again.Done != 3 {
			t.Errorf("the feed was not given up: %+v, %v", again, err)
		}
	})
}

func TestARefusedAddIsAFailure(t *testing.T) {
	r, err := load.RunRaw(t.Context(), refusingFeed{}, load.Config{Requests: 7, Concurrency: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := []load.ErrorCount{{Error: "no", Count: 7, First: "no"}}
	if diff := cmp.Diff(want, r.Errors); r.Failed != 7 || diff != "" {
		t.Errorf("failed %d, errors (-want +got) %s", r.Failed, diff)
	}
}

// refusingFeed has nothing to give.
type refusingFeed struct{}

func (refusingFeed) Add(context.Context, *codec.Request) error { return errors.New("no") }

func (refusingFeed) Abort(context.Context, ...string) error { return nil }

func (refusingFeed) Outputs(ctx context.Context) iter.Seq2[pipeline.Step, error] {
	return func(yield func(pipeline.Step, error) bool) {
		<-ctx.Done()
		yield(pipeline.Step{}, context.Cause(ctx))
	}
}

// The raw feed has the outputs of all requests, also of those that others sent.
func TestOutputsOfOthersAreLeftAlone(t *testing.T) {
	r, err := load.RunRaw(t.Context(), &shared{}, load.Config{Requests: 1, OutputTokens: 2, Prefix: "mine"})
	if err != nil || r.Done != 1 || r.OutputTokens != 2 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// shared is a feed with a request of others.
type shared struct{ refusingFeed }

func (*shared) Add(context.Context, *codec.Request) error { return nil }

func (*shared) Outputs(context.Context) iter.Seq2[pipeline.Step, error] {
	return func(yield func(pipeline.Step, error) bool) {
		for _, id := range []string{"else-0", "mine-x", "mine-", "mine-0"} {
			row := codec.Output{ID: []byte(id), Tokens: []uint32{1}, Finish: codec.FinishLength}
			if id == "mine-0" {
				row.Tokens = []uint32{1, 2}
			}
			if !yield(pipeline.Step{Outputs: &codec.Outputs{Rows: []codec.Output{row}}}, nil) {
				return
			}
		}
	}
}

func TestAConfigThatMakesNoSenseIsRefusedForTheRawFeedToo(t *testing.T) {
	if _, err := load.RunRaw(t.Context(), refusingFeed{}, load.Config{Requests: -1}); err == nil || !strings.Contains(err.Error(), "Config.Requests:") {
		t.Errorf("got %v", err)
	}
}
