// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/policy"
)

// change is something random; to a fleet of any size and state it means something.
type change struct {
	What, Which, Engine, MS, Tokens int
	Request                         policy.Request
	Row                             policy.Engine
}

// changes draws one.
func changes() *rapid.Generator[change] {
	return rapid.Custom(func(t *rapid.T) change {
		number := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
		word := func(name string) string { return rapid.SampledFrom([]string{"", "", "x", "y", "z"}).Draw(t, name) }
		return change{
			What: number("what", 11), Which: number("which", 1000), Engine: number("engine", 1000), MS: number("ms", 300), Tokens: number("tokens", 50),
			Request: policy.Request{
				Tokens: prompt(number("kind", 3), number("prompt", 300)), MaxTokens: number("most", 500), Clients: number("clients", 2),
				Session: word("session"), LoRA: word("lora"), QueryKey: word("key"),
			},
			Row: policy.Engine{
				Waiting: number("waiting", 9), Running: number("running", 99), KVUsage: float64(number("kv", 10)) / 10,
				Weight: rapid.Float64().Draw(t, "weight"), Adapters: []string{word("adapter")}, Stale: rapid.Bool().Draw(t, "stale"),
			},
		}
	})
}

// happen makes c happen, and says where a request went, if one did.
func (f *fleet) happen(t testing.TB, c change) (rank int) {
	f.now += time.Duration(c.MS) * time.Millisecond
	slots := slices.Sorted(maps.Keys(f.live))
	if c.What >= 4 && c.What < 10 && len(slots) == 0 {
		c.What = 0
	}
	switch c.What {
	case 0, 1, 2:
		_, rank = f.send(t, c.Request)
		return rank
	case 3:
		e := f.candidates()
		f.tell()
		f.place(f.prepare(c.Request), e[c.Engine%len(e)])
	case 4, 5, 6:
		f.event(policy.First, slots[c.Which%len(slots)], 1)
	case 7, 8:
		f.event(policy.Finished, slots[c.Which%len(slots)], c.Tokens)
	case 9:
		f.event(policy.Aborted, slots[c.Which%len(slots)], 0)
	case 10:
		f.disturb(c.Engine % len(f.engines))
	case 11:
		f.report(c.Engine%len(f.engines), c.Row)
	}
	return -1
}

// disturb ends an engine, or brings it back.
func (f *fleet) disturb(rank int) {
	if f.gone[rank] {
		f.gone[rank] = false
	} else if len(f.candidates()) > 1 {
		f.die(rank)
	}
}

// report replaces what is known of an engine.
func (f *fleet) report(rank int, row policy.Engine) {
	e := &f.engines[rank]
	row.Rank, row.Index, row.InFlight = rank, rank, e.InFlight
	*e = row
	if r, ok := f.policy.(policy.Reporter); ok {
		r.Reported([]policy.Engine{row})
	}
}

func TestR15CountsFollowLiveRequestsAndEndAtZero(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		wait, tokens := &policy.ShortestWait{}, &policy.LeastTokens{}
		outer := &policy.Weighted{Next: &policy.Session{Next: &policy.Prefix{Next: &policy.LoRA{Next: &both{wait, tokens}}}}}
		f := newFleet(outer, rapid.IntRange(1, 5).Draw(rt, "engines"))
		for range 200 {
			f.happen(t, changes().Draw(rt, "change"))
			f.tell()
			for rank, want := range f.outstanding() {
				if got := wait.Live(rank); got != want {
					rt.Fatalf("engine %d: %d counted, %d live", rank, got, want)
				}
			}
		}
		for slot := range maps.Clone(f.live) {
			f.event(policy.Aborted, slot, 0)
		}
		f.tell()
		for rank := range f.engines {
			if wait.Live(rank) != 0 || tokens.Open(rank) != 0 {
				rt.Fatalf("engine %d is left with %d requests, %d tokens", rank, wait.Live(rank), tokens.Open(rank))
			}
			idle := wait.Explain(policy.Request{Now: f.now + time.Hour, Prompt: 100}, f.engines[rank:rank+1])
			if want := 2148 * wait.Slowness(rank); math.Abs(idle.Scores[0]-want) > 1e-6 {
				rt.Fatalf("engine %d is idle and has a wait of %v tokens, want %v", rank, idle.Scores[0], want)
			}
		}
	})
}

// both lets the first choose and both follow.
type both struct {
	*policy.ShortestWait
	second *policy.LeastTokens
}

func (b *both) Routed(r policy.Request, e policy.Engine) {
	b.ShortestWait.Routed(r, e)
	b.second.Routed(r, e)
}

func (b *both) Observe(v []policy.Event) {
	b.ShortestWait.Observe(v)
	b.second.Observe(v)
}

func TestAnyChoiceIsInRangeTheSameAgainAndAsExplained(t *testing.T) {
	for name := range all() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				n := rapid.IntRange(1, 5).Draw(rt, "engines")
				once, again := newFleet(all()[name], n), newFleet(&explaining{t, all()[name]}, n)
				for range 100 {
					c := changes().Draw(rt, "change")
					if a, b := once.happen(t, c), again.happen(t, c); a != b {
						rt.Fatalf("went to %d once and to %d again", a, b)
					}
				}
			})
		})
	}
}

// explaining asks for an explanation before each choice and compares.
type explaining struct {
	t testing.TB
	policy.Policy
}

func (p *explaining) Pick(r policy.Request, e []policy.Engine) int {
	x := p.Policy.(policy.Explainer).Explain(r, e)
	i := p.Policy.Pick(r, e)
	if d := p.Policy.(policy.Decider).Decided(); i != x.Pick || d != x.Decision || d.Policy == "" || d.Reason == "" {
		p.t.Fatalf("picked %d for %v, explained as %d for %v", i, d, x.Pick, x.Decision)
	}
	if x.Scores != nil && len(x.Scores) != len(e) {
		p.t.Fatalf("%d scores for %d engines", len(x.Scores), len(e))
	}
	for _, s := range x.Scores {
		if s < x.Scores[i] {
			p.t.Fatalf("picked %d of scores %v", i, x.Scores)
		}
	}
	return i
}

func (p *explaining) Reported(e []policy.Engine) {
	if r, ok := p.Policy.(policy.Reporter); ok {
		r.Reported(e)
	}
}

func (p *explaining) Routed(r policy.Request, e policy.Engine) {
	if t, ok := p.Policy.(policy.Tracker); ok {
		t.Routed(r, e)
	}
}

func (p *explaining) Observe(v []policy.Event) {
	if t, ok := p.Policy.(policy.Tracker); ok {
		t.Observe(v)
	}
}
