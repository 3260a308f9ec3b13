// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo && linux

package main_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/pipeline/engine"
)

// slow engines take a few requests at a time, so that there is a load to report,
// and say nothing of it to clients: what a client knows is the coordinator's word.
func slow() engine.Core {
	return &engine.Sim{Vocab: simVocab, MaxBatch: 8, StepTime: 4 * time.Millisecond, NoStats: true}
}

const simVocab = 1000

// simulated are the tokens of a simulated engine.
func simulated(r *codec.Request, vocab int) (tokens []uint32) {
	seed := engine.Seed(r.ID, r.Prompt)
	for i := range r.Sampling.MaxTokens {
		tokens = append(tokens, engine.Token(seed, i, uint32(vocab)))
	}
	return tokens
}

// Our client and our engines, with vLLM's coordinator between them.
func TestOurClientAndEnginesOnVLLMsCoordinator(t *testing.T) {
	start := vllmCoordinator(t)
	t.Run("independent engines", func(t *testing.T) {
		a := start(t, false)
		c := connectDP(t, pipeline.Config{Launch: engine.Cores{slow(), slow()}, Coordinator: a})
		heard := listen(t, a.Front)
		reports := reported(t, c)
		answers := all(t, c, 100, prompts("d", 400, func(int) int { return 16 }))
		checkTokens(t, simVocab, answers)
		wantHalves(t, shares(answers))
		wantReports(t, reports(), heard)
	})
	t.Run("lockstep", func(t *testing.T) {
		a := start(t, true)
		cores := engine.Cores{slow(), slow()}.Lockstep()
		c := connectDP(t, pipeline.Config{Launch: cores, Coordinator: a, Lockstep: true})
		b := newBursts(t, c, listen(t, a.Front))
		b.patient(50)
		b.impatient(50, 150*time.Millisecond)
		b.report()
	})
}

// reported watches the loads that a client knows of, of each engine, and returns how
// often they changed.
func reported(t *testing.T, c *pipeline.Client) (changes func() [2]int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var n [2]int
	over := make(chan struct{})
	go func() {
		defer close(over)
		var last [2]codec.Load
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			for i, e := range c.Engines() {
				if e.Load != last[i] {
					last[i] = e.Load
					n[i]++
				}
			}
			<-tick.C
		}
	}()
	return func() [2]int { stop(); <-over; return n }
}

// wantReports wants loads to have come to the client from both engines.
func wantReports(t *testing.T, changes [2]int, heard *audience) {
	t.Helper()
	t.Logf("loads that the client knew of changed %v times, %d publications had some", changes, heard.loaded())
	if changes[0] < 2 || changes[1] < 2 || heard.loaded() < 2 {
		t.Errorf("loads changed %v times, %d publications, want some of both engines", changes, heard.loaded())
	}
}

// order is what vLLM's client is to do, and told what came of it.
type (
	order struct {
		Input    string         `json:"input"`
		Output   string         `json:"output"`
		Front    string         `json:"front"`
		Lockstep bool           `json:"lockstep"`
		Linger   float64        `json:"linger"` // seconds
		Bursts   [][]orderEntry `json:"bursts"`
	}
	orderEntry struct {
		ID     string   `json:"id"`
		Prompt []uint32 `json:"prompt"`
		Tokens int      `json:"tokens"`
	}
	told struct {
		Tokens   map[string][]uint32 `json:"tokens"`
		Ranks    map[string]*int     `json:"ranks"`
		Seconds  map[string]float64  `json:"seconds"`
		Rows     [][][3]float64      `json:"rows"` // as they changed
		InFlight []int               `json:"inflight"`
		Wave     int                 `json:"wave"`
		Running  bool                `json:"running"`
	}
)

// vLLM's client and our engines, with our coordinator between them.
func TestVLLMsClientOnOurCoordinatorAndEngines(t *testing.T) {
	directory, err := filepath.Abs("testdata/tiny")
	if err != nil {
		t.Fatal(err)
	}
	client := newPython(t, "testdata/dpclient.py", directory)
	t.Run("independent engines", func(t *testing.T) {
		c := ourCoordinator(t, false)
		o := newOrder(t, c, false, prompts("d", 200, func(int) int { return 16 }))
		serve(t, o, c.Addresses(), slow(), slow())
		r := o.run(t, client)
		var n [2]int
		for _, rank := range r.Ranks {
			n[*rank]++
		}
		wantHalves(t, n)
		r.wantRows(t)
	})
	t.Run("lockstep", func(t *testing.T) {
		c := ourCoordinator(t, true)
		var all [][]*codec.Request
		for b := range 50 {
			all = append(all, prompts(fmt.Sprint("b", b), 1+b%3, func(i int) int { return 1 + (b+7*i)%24 }))
		}
		o := newOrder(t, c, true, all...)
		ranks := engine.NewLockstep(0, slow(), slow())
		serve(t, o, c.Addresses(), ranks[0], ranks[1])
		r := o.run(t, client)
		slowest := slices.Max(seconds(r))
		t.Logf("%d waves, slowest of %d requests %.3f s", r.Wave, len(r.Seconds), slowest)
		if r.Wave < 50 || r.Running || slowest > atOnce.Seconds() || c.Counters().Waves != uint64(r.Wave) {
			t.Errorf("it knows %d waves, running %v, slowest request %.3f s; coordinator %+v", r.Wave, r.Running, slowest, c.Counters())
		}
	})
}

// wantRows wants the client to have known of running requests, which it does not
// count by itself, at each engine, and of none in the end.
func (r told) wantRows(t *testing.T) {
	t.Helper()
	t.Logf("its load rows changed %d times", len(r.Rows)-1)
	for i, last := range r.Rows[len(r.Rows)-1] {
		ran := slices.ContainsFunc(r.Rows, func(rows [][3]float64) bool { return rows[i][1] > 0 })
		if !ran || last[0]+last[1] > 0 {
			t.Errorf("engine %d: its load rows were %v, want some with running requests and none in the end", i, r.Rows)
		}
	}
}

func seconds(r told) (all []float64) {
	for _, s := range r.Seconds {
		all = append(all, s)
	}
	return all
}

func newOrder(t *testing.T, c *coordinator.Coordinator, lockstep bool, bursts ...[]*codec.Request) order {
	directory := emptyTemp(t)
	o := order{
		Input: "ipc://" + directory + "/in", Output: "ipc://" + directory + "/out", Front: c.Addresses().Front,
		Lockstep: lockstep, Linger: 0.5,
	}
	for _, burst := range bursts {
		var entries []orderEntry
		for _, r := range burst {
			entries = append(entries, orderEntry{r.ID, r.Prompt, r.Sampling.MaxTokens})
		}
		o.Bursts = append(o.Bursts, entries)
	}
	return o
}

// serve runs engines at fixed addresses until the test ends.
func serve(t *testing.T, o order, a pipeline.CoordinatorAddresses, cores ...engine.Core) {
	t.Helper()
	network := newZMQ(t)
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, len(cores))
	for rank, core := range cores {
		go func() {
			over <- engine.Serve(ctx, engine.Config{
				Transport: network, Rank: rank, Inputs: []string{o.Input}, Outputs: []string{o.Output},
				CoordinatorInput: a.BackPublish, CoordinatorOutput: a.BackOutput, Ready: codec.Ready{StatsAddress: a.Front},
				Skipped: func(err error) { t.Error(err) },
			}, core)
		}()
	}
	t.Cleanup(func() {
		stop()
		for range cores {
			if err := <-over; err != nil {
				t.Error(err)
			}
		}
	})
}

// run has vLLM's client do it and checks every token.
func (o order) run(t *testing.T, client *python) (r told) {
	t.Helper()
	client.ask(t, o, &r)
	n := 0
	for _, burst := range o.Bursts {
		for _, e := range burst {
			n++
			q := &codec.Request{ID: e.ID, Prompt: e.Prompt, Sampling: &codec.SamplingParams{MaxTokens: e.Tokens}}
			if want := simulated(q, simVocab); !slices.Equal(r.Tokens[e.ID], want) {
				t.Errorf("request %s: tokens %v, want %v", e.ID, r.Tokens[e.ID], want)
			}
		}
	}
	if len(r.Seconds) != n || !slices.Equal(r.InFlight, []int{0, 0}) {
		t.Errorf("%d of %d requests ended, in flight it counts %v", len(r.Seconds), n, r.InFlight)
	}
	return r
}
