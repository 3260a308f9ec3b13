// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport/inproc"
)

func TestR9ManyChooseAndFinishAtATime(t *testing.T) {
	const clients, each = 8, 2000
	l := newLedger()
	c, err := pipeline.Connect(t.Context(), pipeline.Config{
		Transport: new(inproc.Network), Launch: engine.Cores{&engine.Sim{}, &engine.Sim{}, &engine.Sim{}, &engine.Sim{}}, Engines: 4, Policy: l,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, c)
	began := time.Now()
	var wg sync.WaitGroup
	for g := range clients {
		wg.Go(func() {
			for i := range each {
				r := &codec.Request{ID: fmt.Sprint(g, " ", i), Prompt: []uint32{1}, Sampling: &codec.SamplingParams{MaxTokens: 2}}
				s, err := c.Submit(t.Context(), r)
				if err != nil {
					t.Error(err)
					return
				}
				if i%5 == 0 {
					s.Close()
				} else if err := failure(s); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if took := time.Since(began); took > 10*time.Second && !raceEnabled {
		t.Errorf("took %v", took)
	}
	if _, err := c.Explain(simple("x")); err != nil { // hands over what has happened
		t.Fatal(err)
	}
	for _, e := range c.Engines() {
		if e.InFlight != 0 {
			t.Errorf("engine %d has %d in flight", e.Rank, e.InFlight)
		}
	}
	if len(l.live)+len(l.wrong) > 0 || l.events[policy.Finished]+l.events[policy.Aborted] != clients*each {
		t.Errorf("the policy counts %v, wrong is %v, and it saw %v", l.live, l.wrong, l.events)
	}
}

func TestR10IdentitiesAreTwoBytesLittleEndianAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, net := connect(t, 3, func(c *pipeline.Config) { c.FirstRank = 255; roundRobin(c) })
		for i, p := range peers {
			submit(t, c, simple(string(rune('a'+i))))
			if m := p.next(); m.kind != codec.Add {
				t.Fatalf("rank %d got %v", p.rank, m.kind)
			}
		}
		_, err := pipeline.Connect(t.Context(), pipeline.Config{Transport: net, FirstRank: 65535, Engines: 2})
		if e, ok := errors.AsType[*pipeline.ConfigError](err); !ok || e.Field != "FirstRank" {
			t.Fatalf("got %v", err)
		}
	})
}

func TestPinsAndSessionsHoldUnderEveryPolicyAndMode(t *testing.T) {
	never := policy.Func(func(policy.Request, []policy.Engine) int { panic("asked about a pin") })
	least := &policy.LeastLoaded{}
	for name, p := range map[string]policy.Policy{
		"own": never, "least-loaded": least, "legacy": &policy.LeastLoadedLegacy{}, "round-robin": &policy.RoundRobin{}, "random": &policy.Random{},
		"power-of-two": &policy.PowerOfTwo{}, "least-tokens": &policy.LeastTokens{}, "shortest-wait": &policy.ShortestWait{},
		"session": &policy.Session{}, "prefix": &policy.Prefix{}, "lora": &policy.LoRA{}, "late": &policy.LateInteraction{}, "weighted": &policy.Weighted{Next: least},
	} {
		for mode, ranks := range map[string][2]int{"internal": {0, 4}, "hybrid": {2, 2}, "one rank": {5, 1}} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					first, n := ranks[0], ranks[1]
					c, peers, _ := connect(t, n, func(c *pipeline.Config) { c.FirstRank, c.Policy = first, p })
					pin := n - 1
					r := simple("r")
					r.DataParallelRank, r.Resumable = &pin, true
					s := submit(t, c, r)
					peers[pin].next()
					chunk := simple("r")
					chunk.Resumable = true
					if again := submit(t, c, chunk); again != s || s.Rank() != first+pin || peers[pin].next().request.ID != "r" {
						t.Fatalf("went to %d", s.Rank())
					}
					for _, pin := range []int{-1, n} {
						r := simple("bad")
						r.DataParallelRank = &pin
						err := failureOf(c, r)
						if e, ok := errors.AsType[*pipeline.PinError](err); pin >= 0 && (!ok || len(e.Ranks) != n || e.Ranks[0] != first) || err == nil {
							t.Fatalf("pin %d: got %v", pin, err)
						}
					}
				})
			})
		}
	}
}

// failureOf is what becomes of a request that cannot be.
func failureOf(c *pipeline.Client, r *codec.Request) error {
	s, err := c.Submit(context.Background(), r)
	if err != nil {
		return err
	}
	return failure(s)
}
