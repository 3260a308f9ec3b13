// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
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

func roundRobin(c *pipeline.Config) { c.Policy = &policy.RoundRobin{} }

// twoOnTwo has a request at each of two engines.
func twoOnTwo(t *testing.T, change ...func(*pipeline.Config)) (*pipeline.Client, []*peer, []*pipeline.Stream) {
	t.Helper()
	c, peers, _ := connect(t, 2, append(change, roundRobin)...)
	var streams []*pipeline.Stream
	for i := range 2 {
		streams = append(streams, submit(t, c, simple(fmt.Sprint("r", i))))
		peers[i].next()
	}
	return c, peers, streams
}

// survives checks that the stream of the request on engine i goes on.
func survives(t *testing.T, p *peer, s *pipeline.Stream) {
	t.Helper()
	p.rows(row(s.ID(), codec.FinishStop, 1))
	if _, finish, err := read(s); err != nil || finish != codec.FinishStop {
		t.Fatalf("the other engine's request ended with %v, %v", finish, err)
	}
}

func TestAVanishedEngineFailsItsOwnStreamsAndCallsAlone(t *testing.T) { // F1
	synctest.Test(t, func(t *testing.T) {
		c, peers, streams := twoOnTwo(t)
		replies := make(chan error, 1)
		go func() { _, err := c.Call(t.Context(), "sleep", nil, 0); replies <- err }()
		peers[0].next()
		began := time.Now()
		_, _ = peers[0].in.Close(), peers[0].out.Close()
		for _, err := range []error{failure(streams[0]), <-replies} {
			var e *pipeline.EngineError
			if !errors.Is(err, pipeline.ErrEngineDead) || !errors.As(err, &e) || e.Rank != 0 {
				t.Fatalf("got %v", err)
			}
		}
		if d := time.Since(began); d > 3*pipeline.DefaultProbeInterval {
			t.Fatalf("seen after %v", d)
		}
		survives(t, peers[1], streams[1])
		for i := range 4 { // the dead one is out of routing
			submit(t, c, simple(fmt.Sprint("next", i)))
			if m := peers[1].next(); m.kind != codec.Add {
				t.Fatalf("got %v", m.kind)
			}
		}
		r := simple("pinned")
		r.DataParallelRank = new(0)
		if _, err := submit(t, c, r).Next(t.Context()); !errors.Is(err, pipeline.ErrEngineDead) {
			t.Fatalf("a pin to a dead engine: %v", err)
		}
	})
}

func TestAnIdleEngineIsNotAskedAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, peers, _ := connect(t, 1)
		peers[0].silent(time.Hour)
	})
}

func TestASilentEngineWithWorkIsAskedByAnEmptyAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		s := submit(t, c, simple("r"))
		peers[0].next()
		began := time.Now()
		if m := peers[0].any(); m.kind != codec.Abort || len(m.ids) != 0 || time.Since(began) < time.Second {
			t.Fatalf("got %v %v after %v", m.kind, m.ids, time.Since(began))
		}
		survives(t, peers[0], s)
	})
}

func TestTheDeathNoticeOfTheOnlyEngine(t *testing.T) { // F2
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		s := submit(t, c, simple("r"))
		peers[0].next()
		peers[0].send(peers[0].out, []byte(codec.DeadSentinel), nil) // two frames are none
		synctest.Wait()
		if n := c.Counters().Malformed; n != 1 || c.Engines()[0].State != pipeline.EngineReady {
			t.Fatalf("%d malformed, engine %v", n, c.Engines()[0].State)
		}
		peers[0].send(peers[0].out, []byte(codec.DeadSentinel))
		if err := failure(s); !errors.Is(err, pipeline.ErrEngineDead) {
			t.Fatalf("got %v", err)
		}
		if _, err := submit(t, c, simple("late")).Next(t.Context()); !errors.Is(err, pipeline.ErrNoEngine) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestADeathNoticeOnASharedAddressFailsOnlyWhoIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, peers, streams := twoOnTwo(t)
		peers[0].send(peers[0].out, []byte(codec.DeadSentinel))
		_, _ = peers[0].in.Close(), peers[0].out.Close()
		if err := failure(streams[0]); !errors.Is(err, pipeline.ErrEngineDead) {
			t.Fatalf("got %v", err)
		}
		survives(t, peers[1], streams[1])
	})
}

func TestSuspectsAreAskedAfterUntilTheySpeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 2) // with nothing to do
		peers[0].send(peers[0].out, []byte(codec.DeadSentinel))
		for range 3 {
			if m := peers[1].any(); m.kind != codec.Abort || len(m.ids) != 0 {
				t.Fatalf("got %v %v", m.kind, m.ids)
			}
		}
		peers[1].put(codec.Outputs{Timestamp: 1})
		synctest.Wait()
		peers[1].silent(time.Minute)
		if c.Engines()[0].State != pipeline.EngineReady {
			t.Fatal("it was given up while it was there")
		}
		_, _ = peers[0].in.Close(), peers[0].out.Close()
		time.Sleep(3 * time.Second) // fake
		if e := c.Engines(); e[0].State != pipeline.EngineDead || e[1].State != pipeline.EngineReady {
			t.Fatalf("engines are %v and %v", e[0].State, e[1].State)
		}
	})
}

func TestALockstepGroupEndsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, peers, streams := twoOnTwo(t, func(c *pipeline.Config) { c.Lockstep = true })
		_, _ = peers[0].in.Close(), peers[0].out.Close()
		for _, s := range streams {
			if err := failure(s); !errors.Is(err, pipeline.ErrEngineDead) {
				t.Fatalf("got %v", err)
			}
		}
	})
}

func TestMalformedMessagesAreCountedAndSkipped(t *testing.T) { // F4
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		s := submit(t, c, simple("r"))
		peers[0].next()
		for i := range 3 * pipeline.MaxMalformed {
			if i%pipeline.MaxMalformed != 0 {
				peers[0].send(peers[0].out, []byte{0xc1, byte(i)})
			} else {
				peers[0].rows(row("r", codec.FinishNone, uint32(i)))
			}
		}
		synctest.Wait()
		if n := c.Counters().Malformed; n != 3*(pipeline.MaxMalformed-1) {
			t.Fatalf("%d counted", n)
		}
		if o, err := s.Next(t.Context()); err != nil || !slices.Equal(o.Tokens, []uint32{0, 8, 16}) {
			t.Fatalf("got %v, %v", o.Tokens, err)
		}
		for range pipeline.MaxMalformed {
			peers[0].send(peers[0].out, []byte{0xc1})
		}
		err := failure(s)
		var d *codec.DecodeError
		if !errors.Is(err, pipeline.ErrEngineDead) || !errors.As(err, &d) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestARestartedEngineIsUsedAgain(t *testing.T) { // F16, L13
	synctest.Test(t, func(t *testing.T) {
		c, peers, net := connect(t, 1)
		s := submit(t, c, simple("old"))
		peers[0].next()
		again := dial(t, net, fixedInput, fixedOutput, 0).ready(codec.Ready{MaxModelLen: 50, Version: codec.DefaultRelease})
		if err := failure(s); !errors.Is(err, pipeline.ErrEngineRestarted) {
			t.Fatalf("got %v", err)
		}
		if m := again.next(); m.kind != codec.Abort || !slices.Equal(m.ids, []string{"old"}) {
			t.Fatalf("what may have been on its way to the old engine is aborted: got %v %v", m.kind, m.ids)
		}
		s = submit(t, c, simple("new"))
		if m := again.next(); m.kind != codec.Add || m.request.ID != "new" {
			t.Fatalf("got %v", m)
		}
		survives(t, again, s)
		if n := c.Info().MaxModelLen; n != 50 {
			t.Fatalf("the model's length is %d", n)
		}
	})
}

func TestABadRowFailsItsRequestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		bad, good := submit(t, c, simple("bad")), submit(t, c, simple("good"))
		peers[0].next()
		peers[0].next()
		// [0, [["bad", "no tokens"], ["good", [5]]]]
		peers[0].send(peers[0].out, []byte("\x92\x00\x92\x92\xa3bad\xa9no tokens\x92\xa4good\x91\x05"))
		var d *codec.DecodeError
		if err := failure(bad); !errors.As(err, &d) || d.Row != 0 {
			t.Fatalf("got %v", err)
		}
		if o, err := good.Next(t.Context()); err != nil || !slices.Equal(o.Tokens, []uint32{5}) {
			t.Fatalf("got %v, %v", o, err)
		}
		if m := peers[0].next(); m.kind != codec.Abort || !slices.Equal(m.ids, []string{"bad"}) {
			t.Fatalf("the engine got %v %v", m.kind, m.ids)
		}
	})
}

func TestAPanickingStageFailsStreamsTyped(t *testing.T) { // L14
	synctest.Test(t, func(t *testing.T) {
		c, _, _ := connect(t, 1, func(c *pipeline.Config) {
			c.Wire = wireWith(pipeline.Tap(func(v pipeline.Command) {
				if a, ok := v.(*pipeline.Add); ok && a.Request.ID == "r4" {
					panic("the fifth")
				}
			}))
		})
		var streams []*pipeline.Stream
		for i := range 5 {
			streams = append(streams, submit(t, c, simple(fmt.Sprint("r", i))))
		}
		for _, s := range streams {
			var e *pipeline.StageError
			var p *pipeline.PanicError
			if err := failure(s); !errors.As(err, &e) || !errors.As(err, &p) || p.Value != "the fifth" {
				t.Fatalf("got %v", err)
			}
		}
		if _, err := c.Submit(t.Context(), simple("late")); !errors.As(err, new(*pipeline.StageError)) {
			t.Fatalf("got %v", err)
		}
	})
}
