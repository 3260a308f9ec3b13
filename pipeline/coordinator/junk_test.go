// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"math"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/coordinator"
)

func TestJunkIsCountedAndIgnored(t *testing.T) {
	front := func(frames ...string) func(*stand) { return func(s *stand) { s.send(s.client, frames...) } }
	back := func(frames ...string) func(*stand) { return func(s *stand) { s.send(s.engines[0], frames...) } }
	output := func(frames ...string) func(*stand) { return func(s *stand) { s.send(s.push, frames...) } }
	outputs := func(o codec.Outputs) func(*stand) { return func(s *stand) { s.output(o) } }
	for name, send := range map[string]func(*stand){
		"front: nothing":                           front(""),
		"front: text":                              front("GET / HTTP/1.1"),
		"front: a topic":                           front("\x01topic"),
		"front: an array of one":                   front("\x91\x01"),
		"front: a word that is not known":          front("\x92\xa3UPS\x02"),
		"front: an identity of three bytes":        front("\x92\xc4\x03abc\x00"),
		"front: a wave that is no number":          front("\x92\x01\xa1x"),
		"front: more after the array":              front("\x92\x01\x00\x00"),
		"front: two frames":                        front("\x92\x01\x00", "\x92\x01\x00"),
		"front: no engines":                        front("\x92\xb0SCALE_ELASTIC_EP\x00"),
		"front: fewer than none":                   front("\x92\xb0SCALE_ELASTIC_EP\xff"),
		"front: more engines than identities":      front("\x92\xb0SCALE_ELASTIC_EP\xce\x00\x01\x00\x01"),
		"back publish: text":                       back("READY"),
		"back publish: a topic":                    back("\x01topic"),
		"back publish: two frames":                 back("\x01", "\x01"),
		"back output: nothing":                     output(""),
		"back output: text":                        output("ENGINE_CORE_DEAD"),
		"back output: a start of a wave":           output("\x02", "\x92\x00\xc0"),
		"back output: a map":                       output("\x80"),
		"back output: statistics that are not":     output("\x99\x00\x90\x91\x01\xcb\x00\x00\x00\x00\x00\x00\x00\x00\xc0\xc0\xc0\xc0\xc0"),
		"back output: a number that is text":       output("\x93\x00\x90\x81\xb0num_running_reqs\xa1x"),
		"back output: fewer requests than none":    output("\x93\x00\x90\x81\xb0num_running_reqs\xff"),
		"back output: tokens of a request":         outputs(codec.Outputs{StartWave: new(3), Rows: []codec.Output{{ID: []byte("r"), Tokens: []uint32{1}}}}),
		"back output: a utility result":            outputs(codec.Outputs{StartWave: new(3), Utility: &codec.UtilityOutput{}}),
		"back output: a wave before the first":     outputs(codec.Outputs{StartWave: new(-1)}),
		"back output: an end before the beginning": outputs(codec.Outputs{WaveComplete: new(-1)}),
		"back output: a wave that none can follow": outputs(codec.Outputs{WaveComplete: new(math.MaxInt)}),
		"back output: a rank below the first":      outputs(codec.Outputs{Engine: -1, StartWave: new(3)}),
		"back output: a load that is no number":    func(s *stand) { s.load(0, 0, 0, 1, 1, math.NaN()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newReady(t, lockstep)
				before := s.State()
				send(s)
				s.want(s.client)
				for _, e := range s.engines {
					s.want(e)
				}
				if got := s.Counters(); got.Malformed != 1 || len(s.skipped) != 1 {
					t.Errorf("counters %+v, skipped %q", got, s.skipped)
				}
				after := s.State()
				if after.Wave != before.Wave || after.Running || len(after.Loads) != 2 || after.Loads[0] != before.Loads[0] {
					t.Errorf("state %+v, before %+v", after, before)
				}
				s.first(one, 0) // it lives
				s.want(s.engines[0], "0 start 0 but 1")
			})
		})
	}
}

func TestJunkBeforeTheEnginesComeIsNoEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, lockstep)
		s.engine()
		s.send(s.engines[0], "hello")
		s.send(s.engines[0], "\x01topic")
		s.want(s.engines[0])
		s.engine()
		s.want(s.engines[0], "0 READY")
		if got := s.Counters(); got.Malformed != 2 || got.Ready != 1 {
			t.Errorf("counters %+v", got)
		}
	})
}

func TestLoadsOfRanksThatAreNotManagedAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReady(t, coordinator.Config{Engines: 2, Lockstep: true})
		s.pass(1000)
		s.load(2, 9, 9, 1, 1, 0)
		stats := codec.Outputs{Engine: 2, StartWave: new(4)} // as vLLM: nothing of such a message counts
		stats.SetStats(&codec.SchedulerStats{})
		s.output(stats)
		s.load(0, 0, 1, 5, 5, 0) // their steps are no measure for it
		s.pass(100)
		s.want(s.client, "50 [{0 0 0} {0 0 0}] 0 false", "1050 [{5 5 0} {0 0 0}] 0 false")
		if got := s.Counters(); got.Unmanaged != 2 || got.Reports != 1 || got.Malformed != 0 {
			t.Errorf("counters %+v", got)
		}
	})
}

// FuzzMessages sends what nobody foresaw to each socket.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("\x92\x01\x00"), uint8(0))
	f.Add([]byte("\x92\xb0SCALE_ELASTIC_EP\x03"), uint8(0))
	f.Add([]byte("\x01"), uint8(1))
	f.Add([]byte("\x98\x00\x90\xc0\xcb\x00\x00\x00\x00\x00\x00\x00\x00\xc0\xc0\x01\xc0"), uint8(2))
	f.Fuzz(func(t *testing.T, frame []byte, socket uint8) {
		synctest.Test(t, func(t *testing.T) {
			s := newReady(t, lockstep)
			switch socket % 3 {
			case 0:
				s.send(s.client, string(frame))
			case 1:
				s.send(s.engines[0], string(frame))
			case 2:
				s.send(s.push, string(frame))
			}
			select {
			case <-s.Done():
				t.Fatalf("ended: %v", s.Wait())
			default:
			}
			if got := s.State(); got.Wave < 0 || len(got.Loads) == 0 {
				t.Errorf("state %+v", got)
			}
		})
	})
}
