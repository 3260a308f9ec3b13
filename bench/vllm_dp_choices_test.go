// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/policy"
)

// dpScenario is what happens to one of several front ends over the same engines.
type dpScenario struct {
	Engines     int      `json:"engines"`
	First       int      `json:"first"` // rank of the first engine
	ClientCount int      `json:"client_count"`
	ClientIndex int      `json:"client_index"`
	Steps       []dpStep `json:"steps"`
}

type dpStep struct {
	Op       string   `json:"op"` // "add", "finish" or "rows"
	ID       string   `json:"id,omitempty"`
	Pin      *int     `json:"pin,omitempty"`
	LateMode string   `json:"late_mode,omitempty"`
	LateKey  string   `json:"late_key,omitempty"`
	IDs      []string `json:"ids,omitempty"`
	Rows     [][3]any `json:"rows,omitempty"` // waiting, running, KV usage of every rank from 0
}

// dpChoice is what a front end did in a step.
type dpChoice struct {
	Chosen   *int  `json:"chosen"`
	InFlight []int `json:"inflight"`
}

// COREPIPE_VLLM's own front end and our route stage live through the same 10,000
// steps and must make the same choices.
func TestTheDefaultPolicyChoosesAsVLLMsFrontEnd(t *testing.T) {
	vllm := newPython(t, "testdata/choices.py")
	const scenarios, steps = 100, 100
	kinds := map[string]int{}
	for seed := range uint64(scenarios) {
		s := newDPScenario(rand.New(rand.NewPCG(seed, 32)), steps)
		var theirs []dpChoice
		vllm.ask(t, s, &theirs)
		ours := playDP(t, s)
		for i, step := range s.Steps {
			kinds[step.kind(s, i)]++
			if theirs[i].differs(ours[i]) {
				t.Fatalf("seed %d, step %d (%s): %+v: vLLM %v, ours %v", seed, i, s.shape(), step, theirs[i], ours[i])
			}
		}
	}
	t.Logf("%d steps were the same: %v", scenarios*steps, kinds)
	for _, kind := range []string{"by load", "pin", "late", "again", "finish", "rows"} {
		if kinds[kind] < scenarios*steps/100 {
			t.Errorf("only %d steps %q: %v", kinds[kind], kind, kinds)
		}
	}
}

func (c dpChoice) differs(d dpChoice) bool {
	return (c.Chosen == nil) != (d.Chosen == nil) || c.Chosen != nil && *c.Chosen != *d.Chosen || !slices.Equal(c.InFlight, d.InFlight)
}

func (c dpChoice) String() string {
	if c.Chosen == nil {
		return fmt.Sprint(c.InFlight)
	}
	return fmt.Sprintf("engine %d, then %v", *c.Chosen, c.InFlight)
}

func (s dpScenario) shape() string {
	return fmt.Sprintf("%d engines from %d, client %d of %d", s.Engines, s.First, s.ClientIndex, s.ClientCount)
}

// kind is what decides in a step.
func (d dpStep) kind(s dpScenario, at int) string {
	switch {
	case d.Op != "add":
		return d.Op
	case s.live(at)[d.ID]:
		return "again"
	case d.Pin != nil:
		return "pin"
	case d.LateKey != "" && d.LateMode != "":
		return "late"
	}
	return "by load"
}

// live are the requests under way before a step.
func (s dpScenario) live(at int) map[string]bool {
	live := map[string]bool{}
	for _, step := range s.Steps[:at] {
		if step.Op == "add" {
			live[step.ID] = true
		}
		for _, id := range step.IDs {
			delete(live, id)
		}
	}
	return live
}

// newDPScenario draws small numbers, so that many scores are equal.
func newDPScenario(r *rand.Rand, steps int) dpScenario {
	s := dpScenario{Engines: 1 + r.IntN(8), ClientCount: 1 + r.IntN(4), First: r.IntN(2) * r.IntN(4)}
	s.ClientIndex = r.IntN(s.ClientCount)
	most := 1 + r.IntN(40) // requests and rows
	for range steps {
		switch n := r.IntN(20); {
		case n < 12:
			s.Steps = append(s.Steps, drawAdd(r, s.Engines))
		case n < 16:
			step := dpStep{Op: "finish"}
			for range r.IntN(6) { // some unknown
				step.IDs = append(step.IDs, fmt.Sprint("r", r.IntN(60)))
			}
			s.Steps = append(s.Steps, step)
		default:
			s.Steps = append(s.Steps, drawRows(r, s.First+s.Engines+r.IntN(2), most))
		}
	}
	return s
}

func drawAdd(r *rand.Rand, engines int) dpStep {
	step := dpStep{Op: "add", ID: fmt.Sprint("r", r.IntN(60))}
	if r.IntN(10) == 0 {
		step.Pin = new(r.IntN(engines))
	}
	if r.IntN(8) == 0 {
		step.LateMode = []string{"cache_query", "score_doc", "score_doc"}[r.IntN(3)]
		step.LateKey = []string{"", "q", "query-7", "Anfrage ä", "質問", "a-much-longer-key-of-a-query"}[r.IntN(6)]
	}
	return step
}

func drawRows(r *rand.Rand, ranks, most int) dpStep {
	step := dpStep{Op: "rows"}
	for range ranks {
		kv := []float64{0, 0.5, 1, r.Float64(), 0.5 + r.Float64()/2}[r.IntN(5)]
		step.Rows = append(step.Rows, [3]any{max(r.IntN(most)-most/2, 0), r.IntN(most), kv})
	}
	return step
}

// playDP lives through s with a route stage.
func playDP(t *testing.T, s dpScenario) (told []dpChoice) {
	t.Helper()
	ranks := make([]int, s.Engines)
	for i := range ranks {
		ranks[i] = s.First + i
	}
	table, err := pipeline.NewTable(pipeline.TableConfig{Ranks: ranks, ClientIndex: s.ClientIndex, ClientCount: s.ClientCount})
	if err != nil {
		t.Fatal(err)
	}
	for _, rank := range ranks {
		if err := table.Ready(rank, &codec.Ready{Version: codec.DefaultRelease}); err != nil {
			t.Fatal(err)
		}
	}
	p := &policy.LateInteraction{Next: &policy.LeastLoaded{ClientIndex: s.ClientIndex, ClientCount: s.ClientCount}}
	in, out, done := make(chan pipeline.Encoded), make(chan pipeline.Routed), make(chan error, 1)
	go func() { done <- pipeline.Route(p, table)(t.Context(), in, out) }()
	for _, step := range s.Steps {
		told = append(told, stepDP(t, table, step, in, out))
	}
	close(in)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return told
}

func stepDP(t *testing.T, table *pipeline.Table, step dpStep, in chan<- pipeline.Encoded, out <-chan pipeline.Routed) (c dpChoice) {
	t.Helper()
	switch step.Op {
	case "add":
		add, _, err := table.Admit(step.request())
		if err != nil {
			t.Fatal(err)
		}
		layout, err := codec.LayoutOf(codec.DefaultRelease)
		if err != nil {
			t.Fatal(err)
		}
		in <- pipeline.Encoded{Command: add, Layout: layout}
		routed := <-out
		c.Chosen = &routed.Rank
	case "finish":
		table.Finish(step.IDs...)
	case "rows":
		var rows []codec.CountsRow
		for _, r := range step.Rows {
			rows = append(rows, codec.CountsRow{Waiting: r[0].(int), Running: r[1].(int), KVUsage: r[2].(float64)})
		}
		table.Report(rows)
	}
	for _, e := range table.Engines() {
		c.InFlight = append(c.InFlight, e.InFlight)
	}
	return c
}

// request may be sent again while it is live, as a chunk of a session is.
func (d dpStep) request() *codec.Request {
	r := &codec.Request{ID: d.ID, Prompt: []uint32{1}, DataParallelRank: d.Pin, Resumable: true}
	if d.LateMode == "" {
		r.Sampling = &codec.SamplingParams{MaxTokens: 1}
		return r
	}
	r.Pooling = &codec.PoolingParams{Task: codec.TaskTokenEmbed, LateInteraction: &codec.LateInteraction{Mode: d.LateMode, QueryKey: d.LateKey}}
	return r
}
