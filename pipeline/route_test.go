// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/policy"
)

// trace is a scenario recorded from vLLM 0.32.0's DPLBAsyncMPClient.
type trace struct {
	Name        string
	Engines     int
	ClientCount int `json:"client_count"`
	ClientIndex int `json:"client_index"`
	Steps       []struct {
		Op       string
		ID       string
		IDs      []string
		Rank     *int
		LateKey  string       `json:"late_key"`
		LateMode string       `json:"late_mode"`
		Counts   [][3]float64 // waiting, running, KV usage
		Engine   int
		Inflight []int
		LB       [][3]float64 // rows after the step
	}
}

// request is the add of one step.
func request(id string, rank *int, mode, key string) *codec.Request {
	r := &codec.Request{ID: id, Prompt: []uint32{1}, DataParallelRank: rank, Resumable: true}
	if mode == "" {
		r.Sampling = &codec.SamplingParams{MaxTokens: 1}
		return r
	}
	r.Pooling = &codec.PoolingParams{Task: codec.TaskTokenEmbed, LateInteraction: &codec.LateInteraction{Mode: mode, QueryKey: key}}
	return r
}

func TestRouteChoosesAsRecordedFromVLLM(t *testing.T) {
	b, err := os.ReadFile("testdata/lb_traces.json")
	if err != nil {
		t.Fatal(err)
	}
	var traces struct{ Scenarios []trace }
	if err := json.Unmarshal(b, &traces); err != nil {
		t.Fatal(err)
	}
	if len(traces.Scenarios) != 13 {
		t.Fatalf("%d scenarios, want 13", len(traces.Scenarios))
	}
	for _, s := range traces.Scenarios {
		t.Run(s.Name, func(t *testing.T) { replay(t, s) })
	}
}

// aliased is the one scenario whose recording gave the real client a snapshot with
// the same list for every engine, so that one choice raised all rows. There the
// rows are taken from the recording.
const aliased = "inflight_floor_beats_stale_snapshot"

func sharedRows(before, after [][3]float64) bool {
	for k := range after {
		if after[k][0] == before[k][0] {
			return false
		}
	}
	return true
}

func loads(rows [][3]float64) []codec.CountsRow {
	out := make([]codec.CountsRow, len(rows))
	for k, r := range rows {
		out[k] = codec.CountsRow{Waiting: int(r[0]), Running: int(r[1]), KVUsage: r[2]}
	}
	return out
}

func replay(t *testing.T, s trace) {
	table := readyTable(t, s.Engines)
	in, out := make(chan pipeline.Encoded), make(chan pipeline.Routed)
	p := &policy.LateInteraction{Next: &policy.LeastLoaded{ClientIndex: s.ClientIndex, ClientCount: s.ClientCount}}
	done := make(chan error, 1)
	go func() { done <- pipeline.Route(p, table)(t.Context(), in, out) }()
	for i, step := range s.Steps {
		switch step.Op {
		case "add":
			add, _, err := table.Admit(request(step.ID, step.Rank, step.LateMode, step.LateKey))
			if err != nil {
				t.Fatal(err)
			}
			in <- pipeline.Encoded{Command: add, Layout: defaultLayout(t)}
			if r := <-out; r.Rank != step.Engine {
				t.Fatalf("step %d: %s went to engine %d, vLLM chose %d", i, step.ID, r.Rank, step.Engine)
			}
		case "finish":
			table.Finish(step.IDs...)
		case "stats":
			table.Report(loads(step.Counts))
		case "init":
		default:
			t.Fatalf("step %d: unknown op %q", i, step.Op)
		}
		if s.Name == aliased && i > 0 && step.Op == "add" && sharedRows(s.Steps[i-1].LB, step.LB) {
			table.Report(loads(step.LB))
		}
		for k, e := range table.Engines() {
			if e.InFlight != step.Inflight[k] {
				t.Fatalf("step %d (%s): engine %d has %d in flight, vLLM counted %d", i, step.Op, k, e.InFlight, step.Inflight[k])
			}
		}
	}
	close(in)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// readyTable has n engines of ranks 0 to n-1 that are ready.
func readyTable(t testing.TB, n int) *pipeline.Table {
	t.Helper()
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i
	}
	table, err := pipeline.NewTable(pipeline.TableConfig{Ranks: ranks})
	if err != nil {
		t.Fatal(err)
	}
	for _, rank := range ranks {
		if err := table.Ready(rank, &codec.Ready{Version: codec.DefaultRelease}); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

func defaultLayout(t testing.TB) *codec.Layout {
	t.Helper()
	l, err := codec.LayoutOf(codec.DefaultRelease)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// routeOne sends one request through a route stage with policy p over n engines.
func routeOne(t *testing.T, p policy.Policy, n int, r *codec.Request) (*pipeline.Stream, []pipeline.Routed) {
	t.Helper()
	table := readyTable(t, n)
	add, stream, err := table.Admit(r)
	if err != nil {
		t.Fatal(err)
	}
	g := pipeline.NewGroup(t.Context())
	var got []pipeline.Routed
	one := func(ctx context.Context, out chan<- pipeline.Encoded) error {
		return pipeline.Emit(ctx, out, pipeline.Encoded{Command: add, Layout: defaultLayout(t)})
	}
	pipeline.To(g, "collect", pipeline.Via(g, "route", pipeline.From(g, "one", 0, one), 0, pipeline.Route(p, table)), collect(&got))
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	return stream, got
}
