// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// boss is a coordinator by hand.
type boss struct {
	t       *testing.T
	publish transport.Conn
	output  transport.Conn
	layout  *codec.Layout
}

const (
	bossIn  = "inproc://coordinator-in"
	bossOut = "inproc://coordinator-out"
)

func newBoss(t *testing.T, n transport.Transport) *boss {
	t.Helper()
	open := func(p transport.Pattern, endpoint string) transport.Conn {
		conn, err := n.Open(t.Context(), transport.Socket{Pattern: p, Endpoint: endpoint, Bind: true})
		must(t, err)
		t.Cleanup(func() { must(t, conn.Close()) })
		return conn
	}
	return &boss{t: t, publish: open(transport.XPub, bossIn), output: open(transport.Pull, bossOut), layout: layout(t)}
}

// managed runs core under a boss who has said READY.
func managed(t *testing.T, core engine.Core, clients int, edit ...func(*engine.Config)) (*rig, *boss) {
	t.Helper()
	var b *boss
	r := serve(t, core, clients, append(edit, func(c *engine.Config) {
		b = newBoss(t, c.Transport)
		c.CoordinatorInput, c.CoordinatorOutput = bossIn, bossOut
	})...)
	b.subscribed()
	b.say([]byte("READY"))
	return r, b
}

// subscribed takes an engine's subscription.
func (b *boss) subscribed() {
	b.t.Helper()
	p, err := b.publish.Recv(b.t.Context())
	must(b.t, err)
	if len(p.Frames) != 1 || string(p.Frames[0]) != "\x01" {
		b.t.Errorf("got %q, want a subscription to everything", p.Frames)
	}
}

func (b *boss) say(frames ...[]byte) {
	b.t.Helper()
	must(b.t, b.publish.Send(transport.Packet{Frames: frames, Shared: len(frames)}))
	synctest.Wait()
}

func (b *boss) wake(wave int, exclude codec.Exclude) {
	b.t.Helper()
	b.say([]byte{byte(codec.StartWave)}, codec.AppendStartWave(nil, wave, exclude))
}

// heard is all that has been said to the coordinator.
func (b *boss) heard() (all []*codec.Outputs) {
	b.t.Helper()
	for {
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Nanosecond)
		p, err := b.output.Recv(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return all
		}
		must(b.t, err)
		o, err := b.layout.DecodeOutputs(p.Frames)
		must(b.t, err)
		all = append(all, o)
	}
}

// loads are those among what was heard; nothing else may be.
func (b *boss) loads() (all []codec.Load) {
	b.t.Helper()
	for _, o := range b.heard() {
		l, ok := o.Load()
		if !ok || len(o.Rows) > 0 || o.Finished != nil || o.Engine != 0 {
			b.t.Errorf("got %+v, want a load alone", o)
		}
		all = append(all, l)
	}
	return all
}

func TestACoordinatorIsPartOfTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(inproc.Network)
		hs, f, b := launcher(t, network), listen(t, network, 0), newBoss(t, network)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		var skipped []string
		w := &wavy{}
		go func() {
			done <- engine.Serve(ctx, engine.Config{
				Transport: network, Handshake: hs.Endpoint(), Rank: 2, Skipped: func(err error) { skipped = append(skipped, err.Error()) },
			}, w)
		}()
		peer, _ := told(t, hs)
		init, err := codec.AppendInit(nil, &codec.Init{
			Inputs: []string{f.input.Endpoint()}, Outputs: []string{f.output.Endpoint()},
			CoordinatorInput: bossIn, CoordinatorOutput: bossOut,
		})
		must(t, err)
		must(t, hs.Send(transport.Packet{Peer: peer, Frames: [][]byte{init}, Shared: 1}))
		b.subscribed()
		f.ready()
		nothingAt(t, hs) // it waits for READY
		b.say([]byte("HELLO"))
		b.wake(4, codec.Exclude{})
		nothingAt(t, hs)
		b.say([]byte("READY"))
		if _, h := told(t, hs); h.Status != codec.StatusReady {
			t.Errorf("got %+v, want READY", h)
		}
		b.say([]byte("READY")) // somebody came late
		b.say([]byte{byte(codec.Abort)}, codec.AppendAbort(nil, "a"))
		b.say([]byte{byte(codec.StartWave)}, []byte{0xc1})
		b.wake(5, codec.ExcludeRank(0))
		stop()
		must(t, <-done)
		if !slices.Equal(w.waves, []int{4, 5}) {
			t.Errorf("woken in %v, want 4, which came early, and 5", w.waves)
		}
		if len(skipped) != 3 {
			t.Errorf("skipped %q, want the three that are none of READY and START_DP_WAVE", skipped)
		}
	})
}

func TestACoordinatorThatIsNotReady(t *testing.T) {
	for name, give := range map[string]func(context.CancelFunc){
		"is waited for as long as for the launcher": func(context.CancelFunc) {},
		"is not waited for when the engine is ended": func(stop context.CancelFunc) {
			pass(time.Second)
			stop()
		},
	} {
		bubble(t, name, func(t *testing.T) {
			network := new(inproc.Network)
			f, b := listen(t, network, 0), newBoss(t, network)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			done := make(chan error, 1)
			go func() {
				done <- engine.Serve(ctx, engine.Config{
					Transport: network, HandshakeTimeout: time.Minute, CoordinatorInput: bossIn, CoordinatorOutput: bossOut,
					Inputs: []string{f.input.Endpoint()}, Outputs: []string{f.output.Endpoint()},
				}, &engine.Sim{})
			}()
			b.subscribed()
			began := time.Now()
			give(stop)
			err := <-done
			if ctx.Err() == nil && (err == nil || !strings.Contains(err.Error(), "HandshakeTimeout") || time.Since(began) != time.Minute) {
				t.Errorf("after %v got %v", time.Since(began), err)
			} else if ctx.Err() != nil {
				must(t, err)
			}
		})
	}
}

func TestLoadsAreReportedWhenTheyChange(t *testing.T) {
	for name, core := range map[string]engine.Core{
		"with statistics": &engine.Sim{StepTime: time.Second, MaxBatch: 1, KVTokens: 100},
		"and without":     &engine.Sim{StepTime: time.Second, MaxBatch: 1, KVTokens: 100, NoStats: true},
	} {
		bubble(t, name, func(t *testing.T) {
			r, b := managed(t, core, 1)
			r.call(codec.UtilityCall{Method: "pause_scheduler", Args: []any{"keep"}})
			r.next()
			r.add(generate("a", 2))
			synctest.Wait()
			r.add(generate("b", 1))
			synctest.Wait()
			if d := cmp.Diff([]codec.Load{{Waiting: 1}, {Waiting: 2}}, b.loads()); d != "" {
				t.Error(d)
			}
			r.call(codec.UtilityCall{Method: "resume_scheduler"})
			r.next()
			r.answer("a", "b")
			synctest.Wait()
			want := []codec.Load{{Running: 1, Waiting: 1, KVUsage: 0.04}, {Waiting: 1}, {}}
			if d := cmp.Diff(want, b.loads()); d != "" { // that of b, which starts and ends in a step, is one
				t.Error(d)
			}
		})
	}
	bubble(t, "of a core that does not know its own too", func(t *testing.T) {
		r, b := managed(t, struct{ engine.Core }{&engine.Sim{StepTime: time.Second}}, 1)
		r.add(generate("a", 3))
		r.answer("a")
		synctest.Wait()
		if d := cmp.Diff([]codec.Load{{Running: 1}, {}}, b.loads()); d != "" {
			t.Error(d)
		}
	})
}

func TestClientsAreToldWhatHasFinished(t *testing.T) {
	bubble(t, "each its own, with the step or by itself", func(t *testing.T) {
		r, b := managed(t, &engine.Sim{StepTime: time.Second, NoStats: true}, 2)
		other := generate("b", 9)
		other.ClientIndex = 1
		r.add(generate("a", 1))
		if o := r.next(); !slices.Equal(o.Finished, []string{"a"}) || len(o.Rows) != 1 {
			t.Errorf("got %+v", o)
		}
		r.add(generate("c", 9))
		synctest.Wait() // its step is under way, b is in the next
		r.add(other)
		pass(1500 * time.Millisecond)
		r.next()
		r.fronts[1].abort("b")
		if o := r.next(); o.Finished != nil {
			t.Errorf("got %+v", o)
		}
		if o := r.fronts[1].next(); !slices.Equal(o.Finished, []string{"b"}) || len(o.Rows) > 0 {
			t.Errorf("got %+v", o)
		}
		r.abort("c")
		for len(r.next().Finished) == 0 { // the step that c was in
		}
		quick := generate("d", 1)
		quick.AbortImmediately = true
		r.add(quick)
		if o := r.next(); !slices.Equal(o.Finished, []string{"d"}) || len(o.Rows) > 0 {
			t.Errorf("got %+v", o)
		}
		r.call(codec.UtilityCall{Method: "is_sleeping"})
		r.next()
		r.fronts[0].silent()
		r.fronts[1].silent()
		b.heard()
	})
	for name, external := range map[string]bool{"not without a coordinator": false, "not with a balancer in front of them": true} {
		bubble(t, name, func(t *testing.T) {
			var r *rig
			var b *boss
			if external {
				r, b = managed(t, &engine.Sim{}, 1, func(c *engine.Config) { c.ExternalLB = true })
			} else {
				r = serve(t, &engine.Sim{}, 1)
			}
			r.add(generate("a", 1), generate("b", 9))
			r.abort("b")
			for range 2 {
				if o := r.next(); o.Finished != nil {
					t.Errorf("got %q", o.Finished)
				}
				if external && len(b.heard()) > 0 {
					t.Error("loads are reported")
				}
				r.add(generate("c", 1))
			}
		})
	}
}
