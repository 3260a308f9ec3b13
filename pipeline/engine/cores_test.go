// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport/inproc"
)

// connect connects a Client to cores; it is closed with the test.
func connect(t *testing.T, cores ...engine.Core) *pipeline.Client {
	t.Helper()
	client, err := pipeline.Connect(t.Context(), pipeline.Config{
		Transport: new(inproc.Network), Launch: engine.Cores(cores), Engines: len(cores),
	})
	must(t, err)
	t.Cleanup(func() { must(t, client.Close(t.Context())) })
	return client
}

// read reads a stream to its end.
func read(t *testing.T, s *pipeline.Stream) (tokens []uint32, err error) {
	t.Helper()
	for out, err := range s.All(t.Context()) {
		if err != nil {
			return tokens, err
		}
		tokens = append(tokens, out.Tokens...)
	}
	return tokens, nil
}

func TestClientIsServedByItsCores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, &engine.Sim{StepTime: time.Millisecond}, &engine.Sim{StepTime: time.Millisecond})
		var streams []*pipeline.Stream
		for i := range 10 {
			s, err := client.Submit(t.Context(), generate(fmt.Sprint("r", i), 5))
			must(t, err)
			streams = append(streams, s)
		}
		ranks := map[int]int{}
		for _, s := range streams {
			tokens, err := read(t, s)
			must(t, err)
			if want := formula(generate(s.ID(), 5), 5, 256); !slices.Equal(tokens, want) {
				t.Errorf("%s got %v, want %v", s.ID(), tokens, want)
			}
			ranks[s.Rank()]++
		}
		if ranks[0] != 5 || ranks[1] != 5 {
			t.Errorf("requests by rank: %v, want 5 each", ranks)
		}
		replies, err := client.Call(t.Context(), "set_weight_version", []any{"v2"})
		if must(t, err); len(replies) != 2 {
			t.Errorf("%d replies, want 2", len(replies))
		}
	})
}

func TestDeathOfOneCoreIsItsOwn(t *testing.T) {
	for name, silent := range map[string]bool{"announced": false, "silent": true} {
		bubble(t, name, func(t *testing.T) {
			mortal := &engine.Sim{StepTime: time.Millisecond, Script: script(engine.Outcome{Die: true, After: 2, Silent: silent})}
			client := connect(t, mortal, &engine.Sim{StepTime: time.Millisecond})
			a, b := generate("a", 5), generate("b", 5)
			a.DataParallelRank, b.DataParallelRank = new(0), new(1)
			sa, err := client.Submit(t.Context(), a)
			must(t, err)
			sb, err := client.Submit(t.Context(), b)
			must(t, err)
			if tokens, err := read(t, sa); !errors.Is(err, pipeline.ErrEngineDead) || len(tokens) != 2 {
				t.Errorf("got %d tokens and %v, want 2 and a dead engine", len(tokens), err)
			}
			if tokens, err := read(t, sb); err != nil || len(tokens) != 5 {
				t.Errorf("the other engine gave %d tokens and %v", len(tokens), err)
			}
		})
	}
}

func TestCloseAbortsWhatCoresStillRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := &engine.Sim{StepTime: time.Second}
		client, err := pipeline.Connect(t.Context(), pipeline.Config{Transport: new(inproc.Network), Launch: engine.Cores{sim}})
		must(t, err)
		s, err := client.Submit(t.Context(), generate("a", 1000))
		must(t, err)
		if err := client.Close(ended(t)); !errors.Is(err, context.Canceled) {
			t.Errorf("Close returned %v, want why it did not wait", err)
		}
		if _, err := read(t, s); !errors.Is(err, pipeline.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		if o, _ := sim.Step(0); o != nil {
			t.Errorf("the core still has %d requests", len(o.Rows))
		}
	})
}

func TestAsManyCoresAsEngines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := pipeline.Connect(t.Context(), pipeline.Config{
			Transport: new(inproc.Network), Launch: engine.Cores{&engine.Sim{}}, Engines: 2,
		})
		if err == nil {
			t.Error("1 core serves 2 engines")
		}
	})
}

func TestEveryReleaseIsServed(t *testing.T) {
	for _, release := range []string{"0.19.1", "0.25.1", "0.29.0", "0.32.0", "0.33.0"} {
		bubble(t, release, func(t *testing.T) {
			r := serve(t, &engine.Sim{}, 1, func(c *engine.Config) { c.Release = release })
			l, err := codec.LayoutOf(release)
			must(t, err)
			r.layout = l
			q := generate("a", 4)
			r.add(q)
			if tokens, _ := r.answer("a"); !slices.Equal(tokens["a"], formula(q, 4, 256)) {
				t.Errorf("got %v", tokens)
			}
			r.call(codec.UtilityCall{Method: "is_sleeping"})
			if v, err := r.next().Utility.Result(); err != nil || v != false {
				t.Errorf("is_sleeping: %v, %v", v, err)
			}
		})
	}
}
