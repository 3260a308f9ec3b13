// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/transport"
)

// Whom a wake leaves out.
var (
	nobody   = codec.Exclude{}
	one      = codec.ExcludeRank(1)
	oneBytes = codec.Exclude{Set: true, Rank: 1, Identity: true}
)

// lockstep is two ranks that step together, with no publication in a minute but
// those of waves.
var lockstep = coordinator.Config{
	Engines: 2, Lockstep: true, Pace: coordinator.Pace{Interval: 60e9, Keepalive: 60e9, Quiet: 60e9},
}

func TestWaves(t *testing.T) {
	for name, c := range map[string]struct {
		script           func(*stand)
		engines, clients string // lines without their time, joined by "; "
	}{
		"a first request wakes all but the engine that has it": {
			func(s *stand) { s.first(one, 0) }, "start 0 but 1", "",
		},
		"an identity is handed on as it came": {
			func(s *stand) { s.first(oneBytes, 0) }, "start 0 but the identity of 1", "",
		},
		"a first request of nobody's wakes all": {
			func(s *stand) { s.first(nobody, 0) }, "start 0 all", "",
		},
		"a first request of an ended wave leaves nobody out": {
			func(s *stand) { s.complete(0, 0); s.first(one, 0) }, "start 1 all", "- 1 false",
		},
		"a first request of a wave to come wakes for the present one": {
			func(s *stand) { s.first(one, 7) }, "start 0 but 1", "",
		},
		"first requests wake until an engine says that it runs": {
			func(s *stand) { s.first(one, 0); s.first(one, 0); s.started(0, 0); s.first(one, 0) },
			"start 0 but 1; start 0 but 1; start 0 but 0", "- 0 true",
		},
		"an engine that runs wakes the others": {
			func(s *stand) { s.started(0, 1) }, "start 0 but 1", "- 0 true",
		},
		"a second engine that says so is not news": {
			func(s *stand) { s.started(0, 1); s.started(0, 0) }, "start 0 but 1", "- 0 true",
		},
		"a beginning of a later wave is followed": {
			func(s *stand) { s.started(0, 0); s.started(3, 1) }, "start 0 but 0; start 3 but 1", "- 0 true; - 3 true",
		},
		"a beginning of an ended wave is old": {
			func(s *stand) { s.complete(4, 0); s.started(4, 1) }, "", "- 5 false",
		},
		"an end is told to clients alone": {
			func(s *stand) { s.started(0, 0); s.complete(0, 0) }, "start 0 but 0", "- 0 true; - 1 false",
		},
		"an end of an ended wave is old": {
			func(s *stand) { s.complete(0, 0); s.started(1, 0); s.complete(0, 0) },
			"start 1 but 0", "- 1 false; - 1 true",
		},
		"an end goes before a beginning in one message": {
			func(s *stand) { s.output(codec.Outputs{WaveComplete: new(2), StartWave: new(9)}) }, "", "- 3 false",
		},
		"a new rank may start a wave before the number of ranks is known": {
			func(s *stand) { s.started(0, 5) }, "start 0 but 5", "- 0 true",
		},
		"a new number of engines keeps the wave": {
			func(s *stand) { s.complete(0, 0); s.scale(4); s.started(1, 3); s.scale(1); s.first(one, 0) },
			"start 1 but 3", "- 1 false; - 1 true",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newReady(t, lockstep)
				c.script(s)
				for _, e := range s.engines {
					s.wantUntimed(e, c.engines)
				}
				s.wantUntimed(s.client, c.clients)
				if len(s.skipped) > 0 {
					t.Errorf("skipped: %q", s.skipped)
				}
			})
		})
	}
}

func (s *stand) wantUntimed(e *ear, want string) {
	s.Helper()
	var got []string
	for _, line := range e.said {
		_, what, _ := strings.Cut(line, " ")
		got = append(got, what)
	}
	if got := strings.Join(got, "; "); got != want {
		s.Errorf("heard %q, want %q", got, want)
	}
}

func TestIndependentEnginesHaveNoWaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := lockstep
		config.Lockstep = false
		s := newReady(t, config)
		s.client.said = nil // the first publication
		s.first(one, 0)
		s.started(0, 0)
		s.complete(0, 0)
		s.want(s.engines[0])
		s.want(s.client)
		if got := s.State(); got.Wave != 0 || got.Running {
			t.Errorf("state %+v", got)
		}
	})
}

func TestSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := lockstep
		config.Engines = 3
		s := newStand(t, config)
		s.engine()
		s.started(0, 0) // must wait: READY is the first thing an engine may hear
		gone := s.engine()
		gone.Close()
		s.engine()
		s.want(s.engines[0])
		if got := s.State(); got.Ready || got.Subscribed != 2 {
			t.Errorf("one left before all were there: %+v", got)
		}
		s.engine()
		s.want(gone)
		s.want(s.engines[2], "0 READY", "0 start 0 but 0")
		s.want(s.engines[0], "0 READY", "0 start 0 but 0")

		late := s.engine()
		s.want(late, "0 READY")
		s.want(s.engines[0], "0 READY") // as vLLM: READY has no address
		if got := s.State(); !got.Ready || got.Subscribed != 4 || !got.Running {
			t.Errorf("state %+v", got)
		}
		if got := s.Counters(); got.Ready != 2 || got.Malformed != 0 {
			t.Errorf("counters %+v", got)
		}
	})
}

func TestALateClientHearsTheNextPublication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReady(t, coordinator.Config{Engines: 1, Lockstep: true})
		s.pass(60)
		s.complete(6, 0)
		late := s.listen(s.Addresses().Front, nil)
		s.pass(6000)
		s.want(late, "5050 [{0 0 0}] 7 false")
	})
}

func TestANewNumberOfEngines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReady(t, coordinator.Config{Engines: 2})
		s.load(0, 0, 0, 1, 1, .1)
		s.load(1, 0, 0, 2, 2, .2)
		s.scale(3)
		s.pass(150)
		s.load(2, 0, 0, 3, 3, .3)
		s.scale(1)
		s.pass(100)
		s.scale(3)
		s.load(1, 0, 0, 0, 4, .4)
		s.pass(100)
		s.want(s.client, "0 [{0 0 0} {0 0 0}] 0 false", "100 [{1 1 0.1} {2 2 0.2} {0 0 0}] 0 false",
			"200 [{1 1 0.1}] 0 false", "300 [{1 1 0.1} {0 4 0.4} {0 0 0}] 0 false")
	})
}

func TestClientsBefore029AreToldWavesAsAllOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := lockstep
		config.Release = "0.19.1"
		s := newReady(t, config)
		raw := s.raw()
		s.complete(4, 0)
		if got := <-raw; got != "\x93\xc0\x05\xc2" {
			t.Errorf("published %q", got)
		}
	})
}

func TestClientsBefore029AreToldPairs(t *testing.T) {
	for release, want := range map[string]string{
		"0.19.1": "\x93\x92\x92\x01\x02\x92\x00\x00\x00\xc2",
		"0.28.1": "\x93\x92\x92\x01\x02\x92\x00\x00\x00\xc2",
		"0.29.0": "\x93\x92\x93\x01\x02\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00\x93\x00\x00\xcb\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2",
		"0.33.0": "\x93\x92\x93\x01\x02\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00\x93\x00\x00\xcb\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2",
	} {
		t.Run(release, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newReady(t, coordinator.Config{Engines: 2, Release: release})
				s.pass(200)
				s.layout, _ = codec.LayoutOf(release)
				raw := s.raw()
				s.load(0, 0, 0, 1, 2, .5)
				s.pass(1)
				if got := <-raw; got != want {
					t.Errorf("published %q, want %q", got, want)
				}
			})
		})
	}
}

// raw is the next publication in bytes.
func (s *stand) raw() <-chan string {
	c := s.open(transport.Socket{Pattern: transport.XSub, Endpoint: s.Addresses().Front})
	s.send(c, "\x01")
	raw := make(chan string, 1)
	go func() { // ends with the publication or the Conn
		if p, err := c.Recv(s.Context()); err == nil {
			raw <- string(p.Frames[0])
		}
	}()
	return raw
}

// What one engine says of the next wave may come before what another says of the last.
func TestWavesThatEndedAreCountedWhateverIsHeardFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReady(t, lockstep)
		s.started(0, 0)
		s.started(1, 1) // so wave 0 has ended
		s.complete(0, 0)
		s.complete(1, 0)
		synctest.Wait()
		if n := s.Counters().Waves; n != 2 {
			t.Errorf("counted %d, want 2", n)
		}
	})
}
