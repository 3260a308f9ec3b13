// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"fmt"
	"sync"
	"testing"
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
