// SPDX-License-Identifier: Apache-2.0

package pipeline_test

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
	"github.com/corepipe/corepipe/policy"
)

func TestACancelledSubmitSendsOneAbortAfterItsAdd(t *testing.T) { // L4
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		why := errors.New("the caller left")
		ctx, cancel := context.WithCancelCause(t.Context())
		s, err := c.Submit(ctx, simple("r"))
		if err != nil {
			t.Fatal(err)
		}
		cancel(why)
		if _, err := s.Next(context.Background()); !errors.Is(err, why) {
			t.Fatalf("got %v", err)
		}
		if m := peers[0].next(); m.kind != codec.Add {
			t.Fatalf("first came %v", m.kind)
		}
		if m := peers[0].next(); m.kind != codec.Abort || !slices.Equal(m.ids, []string{"r"}) {
			t.Fatalf("then came %v %v", m.kind, m.ids)
		}
		s.Close()
		peers[0].silent(100 * time.Millisecond)
	})
}

func TestAbortIsOneMessageAnEngineWithItsIDsOnly(t *testing.T) { // L5
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 3, func(c *pipeline.Config) { c.Policy = &policy.RoundRobin{} })
		var streams []*pipeline.Stream
		for i := range 6 {
			streams = append(streams, submit(t, c, simple(fmt.Sprint("r", i))))
			if m := peers[i%3].next(); m.request.ID != fmt.Sprint("r", i) {
				t.Fatalf("engine %d got %v", i%3, m)
			}
		}
		if err := c.Abort(t.Context(), "r0", "r1", "r3", "unknown"); err != nil {
			t.Fatal(err)
		}
		for i, want := range [][]string{{"r0", "r3"}, {"r1"}} {
			if m := peers[i].next(); m.kind != codec.Abort || !slices.Equal(m.ids, want) {
				t.Fatalf("engine %d got %v %v, want %v", i, m.kind, m.ids, want)
			}
			peers[i].silent(100 * time.Millisecond)
		}
		peers[2].silent(100 * time.Millisecond)
		if _, _, err := read(streams[3]); !errors.Is(err, pipeline.ErrAborted) {
			t.Fatalf("got %v", err)
		}
		for i, n := range []int{0, 1, 2} {
			if got := c.Engines()[i].InFlight; got != n {
				t.Errorf("engine %d has %d in flight, want %d", i, got, n)
			}
		}
	})
}

func TestAbortOfWhatHasFinishedSendsNothing(t *testing.T) { // L6
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		for i := range 1000 {
			s := submit(t, c, simple("r"))
			peers[0].next()
			peers[0].rows(row("r", codec.FinishStop, 1))
			synctest.Wait()
			if i%2 == 0 {
				s.Close()
			} else if err := c.Abort(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			if _, finish, err := read(s); err != nil || finish != codec.FinishStop {
				t.Fatalf("an abort too late changed the end: %v, %v", finish, err)
			}
		}
		peers[0].silent(100 * time.Millisecond)
	})
}

func TestLeavingTheIteratorAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		s := submit(t, c, simple("r"))
		peers[0].next()
		peers[0].rows(row("r", codec.FinishNone, 1))
		for o, err := range s.All(t.Context()) {
			if err != nil || len(o.Tokens) != 1 {
				t.Fatalf("got %v, %v", o, err)
			}
			break
		}
		if m := peers[0].next(); m.kind != codec.Abort {
			t.Fatalf("got %v", m.kind)
		}
	})
}

func TestLateOutputsAreCountedAndGoNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		s := submit(t, c, simple("r"))
		peers[0].next()
		s.Close()
		peers[0].next()
		peers[0].rows(row("r", codec.FinishNone, 1), row("never was", codec.FinishStop, 2))
		synctest.Wait()
		if n := c.Counters().Late; n != 2 {
			t.Fatalf("%d late outputs counted", n)
		}
		if _, err := s.Next(t.Context()); !errors.Is(err, pipeline.ErrAborted) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestCallersThatLeaveAndNeverReadCostNothing(t *testing.T) { // L15, L16
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
		c, peers, _ := connect(t, 1)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 1000 {
			if _, err := c.Submit(ctx, simple(fmt.Sprint("r", i))); err != nil {
				t.Fatal(err)
			}
			peers[0].next()
		}
		for i := range 1000 {
			peers[0].rows(row(fmt.Sprint("r", i), codec.FinishNone, 1, 2, 3))
		}
		cancel()
		ids := map[string]bool{}
		for len(ids) < 1000 {
			m := peers[0].next()
			for _, id := range m.ids {
				if ids[id] {
					t.Fatalf("%s was aborted twice", id)
				}
				ids[id] = true
			}
		}
		if n := c.Engines()[0].InFlight; n != 0 {
			t.Fatalf("%d in flight", n)
		}
	})
}
