// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport"
)

// script gives the first request o, and the others nothing out of the ordinary.
func script(o engine.Outcome) func(int, *codec.Request) engine.Outcome {
	return func(n int, _ *codec.Request) engine.Outcome {
		if n == 0 {
			return o
		}
		return engine.Outcome{}
	}
}

func TestMessagesThatWouldKillVLLMAreSkipped(t *testing.T) {
	for name, frames := range map[string][][]byte{
		"no frame for the kind":           {},
		"an empty kind":                   {{}, {0x90}},
		"a kind of two bytes":             {{0, 0}, {0x90}},
		"an unknown kind":                 {{9}, {0x90}},
		"the engine's own deadly message": {{byte(codec.ExecutorFailed)}, {0x90}},
		"an add without a payload":        {{byte(codec.Add)}},
		"an add of too few fields":        {{byte(codec.Add)}, {0x92, 0xa1, 'x', 0x90}},
		"an add that is a map":            {{byte(codec.Add)}, {0x80}},
		"an add that is cut off":          {{byte(codec.Add)}, {0xdc, 0, 22, 0xa1}},
		"a byte msgpack does not use":     {{byte(codec.Add)}, {0xc1}},
		"an abort that is no array":       {{byte(codec.Abort)}, {0xa1, 'a'}},
		"a utility call of three":         {{byte(codec.Utility)}, {0x93, 0, 1, 0xa1, 'x'}},
		"a utility call of no client":     {{byte(codec.Utility)}, {0x94, 7, 1, 0xa1, 'x', 0x90}},
		"a wave that is none":             {{byte(codec.StartWave)}, {0x90}},
	} {
		bubble(t, name, func(t *testing.T) {
			if len(frames) == 0 {
				frames = [][]byte{{}} // a transport has no messages of no frames
			}
			var skipped []error
			counters := new(engine.Counters)
			r := serve(t, &engine.Sim{StepTime: time.Millisecond}, 1, func(c *engine.Config) {
				c.Skipped = func(err error) { skipped = append(skipped, err) }
				c.Counters = counters
			})
			r.add(generate("before", 3))
			r.send(frames...)
			r.add(generate("after", 3))
			r.answer("before", "after")
			var typed *engine.SkippedError
			if len(skipped) != 1 || !errors.As(skipped[0], &typed) || counters.Skipped.Load() != 1 ||
				!strings.HasPrefix(skipped[0].Error(), "engine: ") {
				t.Errorf("told of %v, counted %d, want one", skipped, counters.Skipped.Load())
			}
		})
	}
}

func TestMessagesWithoutEffect(t *testing.T) {
	for name, frames := range map[string][][]byte{
		"a wake-up":                            {{byte(codec.Wakeup)}, {0x90}},
		"a wake-up without a payload":          {{byte(codec.Wakeup)}},
		"a wave for a core that knows none":    {{byte(codec.StartWave)}, codec.AppendStartWave(nil, 3, codec.Exclude{})},
		"an abort of nobody, which is a probe": {{byte(codec.Abort)}, codec.AppendAbort(nil)},
	} {
		bubble(t, name, func(t *testing.T) {
			r := serve(t, &engine.Sim{}, 1, func(c *engine.Config) { c.Skipped = func(err error) { t.Error(err) } })
			r.send(frames...)
			r.silent()
			r.add(generate("a", 2))
			r.answer("a")
		})
	}
}

func TestDeath(t *testing.T) {
	for _, c := range []struct {
		name      string
		outcome   engine.Outcome
		announced bool
		tokens    int
	}{
		{"is told to every client", engine.Outcome{Die: true, After: 2}, true, 2},
		{"may come before the first token", engine.Outcome{Die: true}, true, 0},
		{"may be silent", engine.Outcome{Die: true, After: 1, Silent: true}, false, 1},
	} {
		bubble(t, c.name, func(t *testing.T) {
			r := serve(t, &engine.Sim{StepTime: time.Second, Script: script(c.outcome)}, 2)
			r.add(generate("a", 5))
			for range c.tokens {
				if o := r.next(); len(o.Rows) != 1 {
					t.Errorf("got %d rows, want 1", len(o.Rows))
				}
			}
			for _, f := range r.fronts {
				if c.announced {
					f.dead()
				}
				f.silent()
			}
			var death *engine.DeathError
			if err := <-r.done; !errors.As(err, &death) || death.Announced != c.announced {
				t.Errorf("Serve returned %v", err)
			}
			err := r.input.Send(transport.Packet{Peer: r.peer, Frames: [][]byte{{5}, {0x90}}})
			if !errors.Is(err, transport.ErrUnreachable) {
				t.Errorf("the engine can still be reached: %v", err)
			}
		})
	}
}

// broken panics, as a core with a defect does.
type broken struct{ engine.Sim }

func (*broken) Step(time.Duration) (*codec.Outputs, time.Duration) { panic("defect") }

// dirty puts out what cannot be encoded.
type dirty struct{ engine.Sim }

func (d *dirty) Step(now time.Duration) (*codec.Outputs, time.Duration) {
	o, took := d.Sim.Step(now)
	if o != nil {
		o.WeightVersion = "\xff"
	}
	return o, took
}

func TestDefectOfACoreIsItsAnnouncedDeath(t *testing.T) {
	for name, core := range map[string]engine.Core{"a panic": &broken{}, "outputs that cannot be encoded": &dirty{}} {
		bubble(t, name, func(t *testing.T) {
			r := serve(t, core, 2)
			if name != "a panic" {
				r.add(generate("a", 5))
			}
			for _, f := range r.fronts {
				f.dead()
			}
			if err := <-r.done; err == nil {
				t.Error("Serve returned nil")
			}
		})
	}
}

func TestScript(t *testing.T) {
	given := []uint32{7, 8, 9}
	for _, c := range []struct {
		name    string
		outcome engine.Outcome
		tokens  []uint32
		finish  codec.FinishReason
	}{
		{"nothing leaves the formula", engine.Outcome{}, formula(generate("a", 4), 4, 256), codec.FinishLength},
		{"tokens end with a stop", engine.Outcome{Tokens: given}, given, codec.FinishStop},
		{"tokens may end otherwise", engine.Outcome{Tokens: given, Finish: codec.FinishRepetition}, given, codec.FinishRepetition},
		{"tokens are bounded by max_tokens", engine.Outcome{Tokens: []uint32{1, 2, 3, 4, 5}}, []uint32{1, 2, 3, 4}, codec.FinishLength},
		{"tokens may break off", engine.Outcome{Tokens: given, After: 2, Finish: codec.FinishAbort}, given[:2], codec.FinishAbort},
		{"no tokens at all", engine.Outcome{Tokens: []uint32{}}, nil, codec.FinishStop},
		{"an error before any token", engine.Outcome{Err: "out of luck"}, nil, codec.FinishError},
		{"an error after some", engine.Outcome{Err: "out of luck", After: 2}, formula(generate("a", 2), 2, 256), codec.FinishError},
	} {
		bubble(t, c.name, func(t *testing.T) {
			r := serve(t, &engine.Sim{Script: script(c.outcome)}, 1)
			r.add(generate("a", 4), generate("b", 4))
			tokens, finish := r.answer("a", "b")
			if !slices.Equal(tokens["a"], c.tokens) || finish["a"] != c.finish {
				t.Errorf("got %v and %v, want %v and %v", tokens["a"], finish["a"], c.tokens, c.finish)
			}
			if finish["b"] != codec.FinishLength {
				t.Errorf("the second request finished with %v", finish["b"])
			}
		})
	}
}

func TestErrorHasAMessageWhereTheReleaseHasRoom(t *testing.T) {
	bubble(t, "since 0.33.0", func(t *testing.T) {
		r := serve(t, &engine.Sim{Script: script(engine.Outcome{Err: "out of luck"})}, 1, func(c *engine.Config) { c.Release = "0.33.0" })
		l, err := codec.LayoutOf("0.33.0")
		must(t, err)
		r.layout = l
		r.add(generate("a", 4))
		x, err := r.next().Rows[0].Extra()
		must(t, err)
		if x.Error == nil || x.Error.Message != "out of luck" {
			t.Errorf("got %+v", x.Error)
		}
	})
}

func TestStallStillAnswersCalls(t *testing.T) {
	bubble(t, "and nothing else", func(t *testing.T) {
		r := serve(t, &engine.Sim{Script: script(engine.Outcome{Stall: true, After: 1})}, 1)
		r.add(generate("a", 5))
		r.next()
		r.silent()
		r.add(generate("b", 5))
		r.silent()
		r.call(codec.UtilityCall{Method: "is_sleeping"})
		if u := r.next().Utility; u == nil || u.Failed() {
			t.Errorf("got %+v, want an answer", u)
		}
	})
}
