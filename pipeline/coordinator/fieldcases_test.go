// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/coordinator"
)

// F5: "running" stuck true, because a wake that was forwarded had been taken for
// proof that the engines run.
func TestF5AForwardedWakeIsNoProofOfRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReady(t, lockstep)
		s.first(one, 0) // the engines are paused, and drop it
		s.want(s.engines[0], "0 start 0 but 1")
		s.want(s.client)
		if s.State().Running {
			t.Error("running, and no engine has said so")
		}
		s.started(0, 0) // resumed
		s.want(s.client, "0 - 0 true")
		if !s.State().Running {
			t.Error("not running, and an engine has said so")
		}
	})
}

// F6: a pause, a late wake and a stale request in the wrong order let one rank
// run alone, or left the sender out of its own wake.
func TestF6BothEnginesAreToldToRunOrNeither(t *testing.T) {
	events := map[string]func(*stand){
		"pause":         func(s *stand) { s.complete(0, 0) }, // both sleep before wave 1
		"first request": func(s *stand) { s.first(one, 0) },  // from a client that knows wave 0
		"stale request": func(s *stand) { s.started(1, 1) },  // it reached rank 1 after the pause
	}
	for _, order := range [][]string{
		{"pause", "first request", "stale request"}, {"pause", "stale request", "first request"},
		{"first request", "pause", "stale request"}, {"first request", "stale request", "pause"},
		{"stale request", "pause", "first request"}, {"stale request", "first request", "pause"},
	} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newReady(t, lockstep)
				s.started(0, 0)
				for _, e := range s.engines {
					e.said = nil
				}
				told := [2]bool{}
				for i, event := range order {
					events[event](s)
					// The rank that got a stale request runs by itself.
					told[1] = told[1] || event == "stale request"
					for rank, e := range s.engines {
						told[rank] = told[rank] || slices.Contains(e.said, "0 start 1 all") ||
							slices.Contains(e.said, fmt.Sprintf("0 start 1 but %d", 1-rank))
					}
					if told[0] != told[1] {
						t.Errorf("told to run after %v: %v; heard %q", order[:i+1], told, s.engines[0].said)
					}
				}
				if !told[0] || !s.State().Running || s.State().Wave != 1 {
					t.Errorf("asleep with a request: %v, %+v", told, s.State())
				}
			})
		})
	}
}

// F6, the other half: an engine is left out of a wake only when the request that
// it got is of the present wave.
func TestF6OnlyTheEngineWithAPresentRequestIsLeftOut(t *testing.T) {
	for wave, want := range map[int]codec.Exclude{0: nobody, 1: nobody, 2: one} {
		c := coordinator.NewCore(2, true)
		c.WaveComplete(1)
		if wake, ok := c.FirstRequest(one, wave); !ok || wake.Wave != 2 || wake.Exclude != want {
			t.Errorf("request of wave %d in wave 2: wake %+v %v, want to exclude %+v", wave, wake, ok, want)
		}
	}
}

// F7: the first request of a fresh group never started the other ranks.
func TestF7TheFirstRequestOfAFreshGroupWakesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReady(t, lockstep)
		s.first(one, 0)
		s.want(s.engines[0], "0 start 0 but 1")
		s.started(0, 0)
		s.want(s.engines[0], "0 start 0 but 0")
		s.first(codec.ExcludeRank(0), 0) // from a client that has not heard yet
		s.want(s.engines[0])
		s.want(s.client, "0 - 0 true")
	})
}

// R8: reports of a slower engine were discarded or warned about, because one
// clock stood for all.
func TestR8EachEngineHasAClockOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReady(t, coordinator.Config{Engines: 2, Lockstep: true})
		s.pass(1000)
		s.load(0, 0, 9, 1, 1, 0)
		s.load(1, 0, 7, 2, 2, 0)
		s.load(1, 0, 6, 3, 3, 0)
		s.load(1, 0, 7, 4, 4, 0) // the same step again is newer: sent later
		s.pass(100)
		s.want(s.client, "50 [{0 0 0} {0 0 0}] 0 false", "1050 [{1 1 0} {4 4 0}] 0 false")
		if got := s.Counters(); got.Reports != 3 || got.Stale != 1 || len(s.skipped) != 1 {
			t.Errorf("counters %+v, skipped %q", got, s.skipped)
		}
		s.load(1, 1, 0, 5, 5, 0) // steps begin anew with a wave
		s.load(1, 0, 8, 6, 6, 0)
		if got := s.Counters(); got.Reports != 4 || got.Stale != 2 {
			t.Errorf("counters %+v", got)
		}
	})
}

// A rank that was started again counts its waves and steps from 0.
func TestAnEngineThatCameBackIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReady(t, coordinator.Config{Engines: 2, Lockstep: true})
		s.load(0, 5, 9, 1, 1, 0)
		s.load(1, 5, 9, 2, 2, 0)
		s.pass(1000)
		s.engines[1].Close()
		s.engine()
		s.load(1, 0, 0, 7, 7, 0)
		s.pass(1000)
		if got := s.State(); got.Loads[1].Waiting != 7 || s.Counters().Stale != 0 {
			t.Errorf("state %+v, %d stale", got, s.Counters().Stale)
		}
		// Its steps are new again, so a faster pace than the quiet time is published.
		published := s.Counters().Published
		for step := range 30 {
			s.load(1, 0, step+1, step, 0, 0)
			s.pass(10)
		}
		if got := s.Counters().Published - published; got < 2 {
			t.Errorf("%d publications in 300 ms of short steps", got)
		}
	})
}
