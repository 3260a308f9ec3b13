// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/policy"
)

func TestARequestGoesThroughAllStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1, func(c *pipeline.Config) { c.ClientIndex, c.ClientCount = 1, 2 })
		s := submit(t, c, simple("r"))
		m := peers[0].next()
		if m.kind != codec.Add || m.request.ID != "r" || !slices.Equal(m.request.Prompt, []uint32{1, 2, 3}) ||
			m.request.ClientIndex != 1 || m.request.ArrivalTime == 0 || m.request.Sampling.MaxTokens != 8 {
			t.Fatalf("the engine got %+v", m.request)
		}
		peers[0].rows(row("r", codec.FinishNone, 7))
		if o, err := s.Next(t.Context()); err != nil || !slices.Equal(o.Tokens, []uint32{7}) || s.Rank() != 0 {
			t.Fatalf("got %v, %v from engine %d", o.Tokens, err, s.Rank())
		}
		peers[0].rows(row("r", codec.FinishLength, 8, 9))
		if tokens, finish, err := read(s); err != nil || finish != codec.FinishLength || !slices.Equal(tokens, []uint32{8, 9}) {
			t.Fatalf("got %v, %v, %v", tokens, finish, err)
		}
	})
}

func TestASlowReaderGetsEverythingMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		s := submit(t, c, simple("r"))
		peers[0].next()
		first := row("r", codec.FinishNone, 0)
		first.SetExtra(&codec.Extra{PrefillStats: &codec.PrefillStats{NumPromptTokens: 3}})
		peers[0].rows(first)
		want := []uint32{0}
		for i := uint32(1); i < 50; i++ {
			peers[0].rows(row("other", codec.FinishNone, 1), row("r", codec.FinishNone, i))
			want = append(want, i)
		}
		peers[0].rows(row("r", codec.FinishStop))
		synctest.Wait()
		o, err := s.Next(t.Context())
		if x, bad := o.Extra(); err != nil || bad != nil || x.PrefillStats == nil || x.PrefillStats.NumPromptTokens != 3 || len(o.Tokens) != 1 {
			t.Fatalf("the first output is %+v, %v", o, err)
		}
		o, err = s.Next(t.Context())
		if err != nil || o.Finish != codec.FinishStop || !slices.Equal(o.Tokens, want[1:]) {
			t.Fatalf("the rest came as %+v, %v", o, err)
		}
	})
}

func TestAReaderIsWokenForAnIntervalOfTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1, func(c *pipeline.Config) { c.StreamInterval = 10 })
		own := simple("own")
		own.Sampling.StreamInterval = new(2)
		for id, want := range map[string][]int{"r": {1, 10, 10, 4}, "own": {1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}} {
			r := simple(id)
			if id == "own" {
				r = own
			}
			s := submit(t, c, r)
			peers[0].next()
			var got []int
			done := make(chan error, 1)
			go func() {
				for o, err := range s.All(t.Context()) {
					if err != nil {
						done <- err
						return
					}
					got = append(got, len(o.Tokens))
				}
				done <- nil
			}()
			for i := range 25 {
				synctest.Wait() // the reader waits
				finish := codec.FinishNone
				if i == 24 {
					finish = codec.FinishLength
				}
				peers[0].rows(row(id, finish, uint32(i)))
			}
			if err := <-done; err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: got %v, want %v, %v", id, got, want, err)
			}
		}
	})
}

func TestTheEndOfAReadersContextEndsItsWaitAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		s := submit(t, c, simple("r"))
		peers[0].next()
		for range 2 { // with another context each time
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			began := time.Now()
			if _, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Fatalf("got %v after %v", err, time.Since(began))
			}
			cancel()
		}
		survives(t, peers[0], s)
	})
}

func TestThePolicySeesReportsUntilTheyAreStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen policy.Engine
		c, peers, _ := connect(t, 1, func(c *pipeline.Config) {
			c.StaleAfter = 5 * time.Second
			c.Policy = policy.Func(func(_ policy.Request, e []policy.Engine) int { seen = e[0]; return 0 })
		})
		o := codec.Outputs{Timestamp: 1}
		o.SetStats(&codec.SchedulerStats{NumRunning: 3, NumWaiting: 2, KVCacheUsage: 0.5})
		peers[0].put(o)
		synctest.Wait()
		for _, want := range []policy.Engine{
			{Waiting: 2, Running: 3, KVUsage: 0.5},
			{InFlight: 1, Age: 6 * time.Second, Stale: true},
		} {
			submit(t, c, simple(fmt.Sprint("r", want.InFlight)))
			peers[0].next()
			if !reflect.DeepEqual(seen, want) {
				t.Fatalf("saw %+v, want %+v", seen, want)
			}
			time.Sleep(6 * time.Second) // fake
		}
	})
}

func TestFinishReasonsAreToldApart(t *testing.T) {
	for finish, clean := range map[codec.FinishReason]bool{
		codec.FinishStop: true, codec.FinishLength: true, codec.FinishRepetition: true,
		codec.FinishAbort: false, codec.FinishError: false, codec.FinishReason(10): false,
	} {
		t.Run(finish.String(), func(t *testing.T) { // F14
			synctest.Test(t, func(t *testing.T) {
				c, peers, _ := connect(t, 1)
				s := submit(t, c, simple("r"))
				peers[0].next()
				peers[0].rows(row("r", finish, 5))
				tokens, got, err := read(s)
				if got != finish || !slices.Equal(tokens, []uint32{5}) {
					t.Fatalf("got %v, %v", tokens, got)
				}
				var f *pipeline.FinishError
				if clean != (err == nil) || !clean && (!errors.As(err, &f) || f.Reason != finish || f.ID != "r") {
					t.Fatalf("got error %v", err)
				}
			})
		})
	}
}

func TestAnIDIsFreeWhenItsReaderSeesTheFinish(t *testing.T) { // L8
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		for range 1000 {
			s := submit(t, c, simple("r"))
			peers[0].next()
			peers[0].rows(row("r", codec.FinishStop, 1))
			if _, _, err := read(s); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestADuplicateIDIsRefusedOnceInFlight(t *testing.T) { // L7
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		var wg sync.WaitGroup
		var mu sync.Mutex
		accepted, duplicates := 0, 0
		for range 32 {
			wg.Go(func() {
				_, err := c.Submit(context.Background(), simple("r"))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					accepted++
				case errors.Is(err, pipeline.ErrDuplicate):
					duplicates++
				}
			})
		}
		wg.Wait()
		if accepted != 1 || duplicates != 31 {
			t.Fatalf("%d accepted, %d refused", accepted, duplicates)
		}
		peers[0].next()
		peers[0].silent(100 * time.Millisecond)
	})
}

func TestMaxTokensIsWhatTheModelLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		r := simple("r")
		r.Sampling = &codec.SamplingParams{MinTokens: 20}
		submit(t, c, r)
		if m := peers[0].next(); m.request.Sampling.MaxTokens != 97 || r.Sampling.MaxTokens != 0 {
			t.Fatalf("sent %d, and the user's is %d", m.request.Sampling.MaxTokens, r.Sampling.MaxTokens)
		}
	})
}

func TestAdmissionWaitsForRoom(t *testing.T) { // L19
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1, func(c *pipeline.Config) { c.MaxInFlight = 1 })
		submit(t, c, simple("a"))
		peers[0].next()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Submit(ctx, simple("b")); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		done := make(chan error, 1)
		go func() { _, err := c.Submit(context.Background(), simple("c")); done <- err }()
		synctest.Wait()
		peers[0].rows(row("a", codec.FinishStop))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}
