// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/pipeline/coordinator"
)

func TestLoadsArePublishedAtTheirTime(t *testing.T) {
	for name, c := range map[string]struct {
		config coordinator.Config
		script func(*stand)
		want   []string
	}{
		"independent engines: at once, then as a keepalive": {
			coordinator.Config{Engines: 2},
			func(s *stand) { s.pass(10_001) },
			[]string{"0 [{0 0 0} {0 0 0}] 0 false", "5000 [{0 0 0} {0 0 0}] 0 false", "10000 [{0 0 0} {0 0 0}] 0 false"},
		},
		"lockstep: after the quiet time, then as a keepalive": {
			coordinator.Config{Engines: 2, Lockstep: true},
			func(s *stand) { s.pass(5051) },
			[]string{"50 [{0 0 0} {0 0 0}] 0 false", "5050 [{0 0 0} {0 0 0}] 0 false"},
		},
		"a change long after the last publication goes out at once without lockstep": {
			coordinator.Config{Engines: 1},
			func(s *stand) { s.pass(1000); s.load(0, 0, 0, 3, 4, .5); s.pass(4000) },
			[]string{"0 [{0 0 0}] 0 false", "1000 [{3 4 0.5}] 0 false"},
		},
		"a change long after it waits for the quiet time in lockstep": {
			coordinator.Config{Engines: 1, Lockstep: true},
			func(s *stand) { s.pass(1000); s.load(0, 0, 1, 3, 4, .5); s.pass(4000) },
			[]string{"50 [{0 0 0}] 0 false", "1050 [{3 4 0.5}] 0 false"},
		},
		"changes soon after it wait for the interval and go together": {
			coordinator.Config{Engines: 2},
			func(s *stand) {
				s.pass(20)
				s.load(0, 0, 0, 1, 0, 0)
				s.pass(70)
				s.load(1, 0, 0, 2, 0, 0)
				s.load(0, 0, 0, 3, 0, 0)
				s.pass(4000)
			},
			[]string{"0 [{0 0 0} {0 0 0}] 0 false", "100 [{3 0 0} {2 0 0}] 0 false"},
		},
		"the next keepalive counts from the publication before it, whatever caused that": {
			coordinator.Config{Engines: 1},
			func(s *stand) { s.pass(400); s.load(0, 0, 0, 1, 0, 0); s.pass(5001) },
			[]string{"0 [{0 0 0}] 0 false", "400 [{1 0 0}] 0 false", "5400 [{1 0 0}] 0 false"},
		},
		"each report of a step puts the publication off in lockstep": {
			coordinator.Config{Engines: 3, Lockstep: true},
			func(s *stand) {
				s.pass(1000)
				for rank := range 3 {
					s.load(rank, 0, 1, rank, 1, 0)
					s.pass(40)
				}
				s.pass(1000)
			},
			[]string{"50 [{0 0 0} {0 0 0} {0 0 0}] 0 false", "1130 [{0 1 0} {1 1 0} {2 1 0}] 0 false"},
		},
		"a newer step closes the one before, which goes out first and at once": {
			coordinator.Config{Engines: 2, Lockstep: true},
			func(s *stand) {
				s.pass(1000)
				s.load(0, 0, 1, 1, 1, 0)
				s.pass(20)
				s.load(1, 0, 1, 2, 2, 0)
				s.pass(20)
				s.load(0, 0, 2, 9, 9, 0)
				s.pass(4000)
			},
			[]string{
				"50 [{0 0 0} {0 0 0}] 0 false", "1040 [{1 1 0} {2 2 0}] 0 false", "1140 [{9 9 0} {2 2 0}] 0 false",
			},
		},
		"steps faster than the quiet time are published every interval": {
			coordinator.Config{Engines: 1, Lockstep: true},
			func(s *stand) {
				s.pass(105)
				for step := range 30 {
					s.load(0, 0, step, step, 0, 0)
					s.pass(10)
				}
			},
			[]string{
				"50 [{0 0 0}] 0 false", "150 [{3 0 0}] 0 false", "250 [{13 0 0}] 0 false", "350 [{23 0 0}] 0 false",
			},
		},
		"a client's words put nothing off": {
			coordinator.Config{Engines: 1, Lockstep: true},
			func(s *stand) {
				s.pass(30)
				s.first(nobody, 0)
				s.pass(30)
			},
			[]string{"50 [{0 0 0}] 0 false"},
		},
		"a pace of one's own": {
			coordinator.Config{Engines: 1, Lockstep: true, Pace: coordinator.Pace{Interval: 10e6, Keepalive: 300e6, Quiet: 2e6}},
			func(s *stand) { s.pass(20); s.load(0, 0, 1, 1, 0, 0); s.pass(330) },
			[]string{"2 [{0 0 0}] 0 false", "22 [{1 0 0}] 0 false", "322 [{1 0 0}] 0 false"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newReady(t, c.config)
				c.script(s)
				s.want(s.client, c.want...)
				if len(s.skipped) > 0 {
					t.Errorf("skipped: %q", s.skipped)
				}
			})
		})
	}
}

// Messages that never pause must not hold a publication up.
func TestAFloodOfReportsDoesNotHoldPublicationsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReady(t, coordinator.Config{Engines: 1})
		for i := range 1000 {
			s.load(0, 0, 0, i+1, 0, 0)
			time.Sleep(time.Millisecond)
		}
		if got := s.Counters().Published; got != 10 && got != 11 {
			t.Errorf("%d publications in a second, want one every 100 ms", got)
		}
	})
}
