// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/bench/replay"
	"github.com/corepipe/corepipe/policy"
)

// witness is a policy that checks what it is told, and picks at random.
type witness struct {
	policy.Random
	wrong []string

	live    map[int]*told // by slot
	flight  map[int]int   // by rank
	now     time.Duration
	picked  *policy.Request
	gone    map[int]bool
	seen    func(r policy.Request, engines []policy.Engine) // each Pick
	reports int
	most    int // live at a time
}

type told struct {
	rank  int
	first bool
}

func newWitness(seed uint64) *witness {
	return &witness{Random: policy.Random{Seed: seed}, live: map[int]*told{}, flight: map[int]int{}, gone: map[int]bool{}}
}

func (w *witness) expect(ok bool, format string, args ...any) {
	if !ok && len(w.wrong) < 10 {
		w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
	}
}

func (w *witness) Reported(engines []policy.Engine) {
	w.reports++
	w.expect(len(engines) > 0, "a report of no engine")
	w.expect(w.picked == nil, "Reported between Pick and Routed")
}

func (w *witness) Observe(events []policy.Event) {
	w.expect(w.picked == nil, "Observe between Pick and Routed")
	for _, e := range events {
		w.expect(e.At >= w.now, "an event from before the last one: %v, %v", e.At, w.now)
		w.now = e.At
		if e.Kind == policy.Gone {
			w.expect(w.flight[e.Rank] == 0, "rank %d is gone and has %d requests", e.Rank, w.flight[e.Rank])
			continue
		}
		q := w.live[e.Slot]
		if w.expect(q != nil && q.rank == e.Rank, "event %+v of slot %d: %+v", e, e.Slot, q); q == nil {
			continue
		}
		switch e.Kind {
		case policy.First:
			w.expect(!q.first && e.Tokens <= 1, "a second first output, or %d tokens", e.Tokens)
			q.first = true
		case policy.Finished, policy.Aborted:
			w.expect(q.first || e.Kind == policy.Aborted, "finished without a first output")
			delete(w.live, e.Slot)
			w.flight[e.Rank]--
		}
	}
}

func (w *witness) Pick(r policy.Request, engines []policy.Engine) int {
	w.expect(r.Now >= w.now, "a request from before the last event: %v, %v", r.Now, w.now)
	w.expect(len(r.Tokens) == r.Prompt && r.Prompt > 0, "%d tokens for a prompt of %d", len(r.Tokens), r.Prompt)
	w.now, w.picked = r.Now, &r
	for _, e := range engines {
		w.expect(e.InFlight == w.flight[e.Rank], "rank %d: %d in flight, the events say %d", e.Rank, e.InFlight, w.flight[e.Rank])
		w.expect(!e.Stale || e.Waiting+e.Running == 0, "a stale report with numbers: %+v", e)
	}
	if w.seen != nil {
		w.seen(r, engines)
	}
	return w.Random.Pick(r, engines)
}

func (w *witness) Routed(r policy.Request, e policy.Engine) {
	w.expect(w.picked != nil && w.picked.ID == r.ID, "Routed without Pick")
	w.expect(w.live[r.Slot] == nil, "slot %d is another's", r.Slot)
	w.most = max(w.most, len(w.live)+1)
	w.expect(r.Slot < w.most, "slot %d with %d live at most", r.Slot, w.most)
	w.live[r.Slot] = &told{rank: e.Rank}
	w.flight[e.Rank]++
	w.picked = nil
}

func TestAPolicyIsCalledAsTheRouteStageDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := replay.Fleet{
			Engines: rapid.IntRange(1, 5).Draw(t, "engines"),
			Speeds:  rapid.SliceOfN(rapid.Float64Range(0.2, 3), 0, 3).Draw(t, "speeds"),
			Model: replay.Model{
				KVTokens: rapid.SampledFrom([]int{0, 2048}).Draw(t, "kv"), MaxBatch: rapid.SampledFrom([]int{0, 3}).Draw(t, "batch"),
				MaxBatchedTokens: rapid.SampledFrom([]int{0, 100}).Draw(t, "budget"),
			},
			Report: rapid.SampledFrom([]time.Duration{0, ms(1), ms(100), time.Second}).Draw(t, "report"),
			Silent: rapid.SampledFrom([]time.Duration{0, ms(1500)}).Draw(t, "silent"), StaleAfter: ms(700),
		}
		if rapid.Bool().Draw(t, "dies") {
			f.Dies, f.Returns = ms(900), rapid.SampledFrom([]time.Duration{0, ms(1600)}).Draw(t, "returns")
		}
		w := replay.Workload{
			Requests: 150, Rate: rapid.Float64Range(1, 200).Draw(t, "rate"), Burstiness: rapid.Float64Range(0.05, 3).Draw(t, "burstiness"),
			Prompt: replay.Uniform(1, 900), Output: replay.Uniform(1, 200),
			Prefixes: rapid.IntRange(0, 3).Draw(t, "prefixes"), PrefixTokens: 100, Turns: rapid.IntRange(0, 4).Draw(t, "turns"),
		}
		seed := rapid.Uint64().Draw(t, "seed")
		trace, err := w.Trace(seed)
		if err != nil {
			t.Fatal(err)
		}
		p := newWitness(seed)
		results, err := replay.Run(t.Context(), f, trace, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.wrong) > 0 {
			t.Fatal(p.wrong)
		}
		r := results[0]
		if r.Done+r.Failed != len(trace) {
			t.Fatalf("%d done and %d failed of %d", r.Done, r.Failed, len(trace))
		}
		if r.MaxMean < 0.999 && r.MaxMean != 0 || r.MaxMeanEngine > r.MaxMean+0.001 || r.MaxMean > float64(f.Engines)+0.001 {
			t.Fatalf("max/mean %v, of one engine %v, of %d engines", r.MaxMean, r.MaxMeanEngine, f.Engines)
		}
	})
}

// steady is requests of the same size, a hundred a second.
func steady(n int) (t replay.Trace) {
	for i := range n {
		t = append(t, replay.Request{At: time.Duration(i) * ms(10), Prompt: 100, Output: 20})
	}
	return t
}

func TestReportsAreAsOldAsTheFleetSays(t *testing.T) {
	for _, c := range []struct {
		name      string
		report    time.Duration
		silent    time.Duration
		oldest    time.Duration // of what is not stale
		stale     bool          // in the end
		everyPick bool          // is there a report to be told of
	}{
		{name: "always true", everyPick: true},
		{name: "every 100 ms", report: ms(100), oldest: ms(100)},
		{name: "a silent coordinator", report: ms(100), silent: ms(1000), oldest: ms(2000), stale: true},
		{name: "a silent coordinator that told the truth", silent: ms(1000), oldest: ms(2000), stale: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newWitness(1)
			var oldest time.Duration
			var last policy.Engine
			picks := 0
			p.seen = func(r policy.Request, engines []policy.Engine) {
				picks++
				for _, e := range engines {
					if !e.Stale {
						oldest = max(oldest, e.Age)
					}
				}
				last = engines[0]
				if c.report > 0 && last.Waiting > 0 || last.Running > 0 != (last.KVUsage > 0) && !last.Stale && last.Age > 0 {
					t.Errorf("at %v: %+v, but nobody waits at the end of a step, and running requests take room", r.Now, last)
				}
				if c.report == 0 && !last.Stale && last.Age == 0 && last.Waiting+last.Running != last.InFlight {
					t.Errorf("at %v: %+v is not the truth", r.Now, last)
				}
			}
			f := replay.Fleet{Engines: 2, Report: c.report, Silent: c.silent, StaleAfter: ms(2000)}
			run(t, f, steady(500), p)
			if oldest > c.oldest || oldest < c.oldest-ms(15) || last.Stale != c.stale {
				t.Errorf("the oldest report used was %v old, stale in the end: %v", oldest, last.Stale)
			}
			if c.everyPick != (p.reports == picks) || p.reports == 0 {
				t.Errorf("%d reports for %d choices", p.reports, picks)
			}
			if len(p.wrong) > 0 {
				t.Error(p.wrong)
			}
		})
	}
}

func TestAnEngineThatDiesFailsWhatItHasAndIsLeftOutUntilItIsBack(t *testing.T) {
	p := newWitness(1)
	var without, with []time.Duration
	inFlight := 0
	p.seen = func(r policy.Request, engines []policy.Engine) {
		has := slices.ContainsFunc(engines, func(e policy.Engine) bool { return e.Rank == 0 })
		if has {
			with = append(with, r.Now)
		} else {
			without = append(without, r.Now)
		}
		if r.Now == ms(990) {
			inFlight = engines[0].InFlight
		}
	}
	r := run(t, replay.Fleet{Engines: 3, Dies: ms(995), Returns: ms(2005)}, steady(300), p)
	if slices.Min(without) != ms(1000) || slices.Max(without) != ms(2000) || slices.Max(with) != ms(2990) {
		t.Errorf("left out from %v to %v", slices.Min(without), slices.Max(without))
	}
	if r.Failed < inFlight || r.Failed > inFlight+1 || inFlight < 2 {
		t.Errorf("%d failed of %d in flight, and perhaps one more", r.Failed, inFlight)
	}
}

func TestRequestsFailWithoutAnEngineToGoTo(t *testing.T) {
	for name, c := range map[string]struct {
		fleet  replay.Fleet
		pick   int
		failed int
	}{
		"the only engine is dead": {replay.Fleet{Engines: 1, Dies: ms(5), Returns: ms(35)}, 0, 4},
		"none will do":            {replay.Fleet{}, -1, 10},
		"one that is none":        {replay.Fleet{}, 4, 10},
	} {
		r := run(t, c.fleet, steady(10), policy.Func(func(policy.Request, []policy.Engine) int { return c.pick }))
		if r.Failed != c.failed || r.Done != 10-c.failed {
			t.Errorf("%s: %d failed, %d done, want %d failed", name, r.Failed, r.Done, c.failed)
		}
	}
}

func TestTheSameTraceGivesTheSameNumbers(t *testing.T) {
	for _, s := range replay.Scenarios() {
		s.Requests = 300
		var before *replay.Result
		for range 2 {
			trace, err := s.Trace(7)
			if err != nil {
				t.Fatal(err)
			}
			r := run(t, s.Fleet, trace, &policy.Prefix{Next: &policy.Session{Next: &policy.ShortestWait{}}})
			if r.DecisionsPerSecond <= 0 {
				t.Errorf("%s: %v decisions a second", s.Name, r.DecisionsPerSecond)
			}
			r.DecisionsPerSecond = 0
			if before != nil && fmt.Sprintf("%+v", *before) != fmt.Sprintf("%+v", *r) {
				t.Errorf("%s: %+v, then %+v", s.Name, *before, *r)
			}
			before = r
		}
	}
}
