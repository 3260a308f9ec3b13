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
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// coordinate starts a coordinator of lockstep engines.
func coordinate(t *testing.T, n transport.Transport, engines int) (*coordinator.Coordinator, pipeline.CoordinatorAddresses) {
	t.Helper()
	c, err := coordinator.Start(t.Context(), coordinator.Config{
		Transport: n, Engines: engines, Lockstep: true,
		Front: "inproc://front", BackPublish: bossIn, BackOutput: bossOut,
	})
	must(t, err)
	return c, c.Addresses()
}

func TestBurstsWithPausesAreServedAtOnce(t *testing.T) {
	const ranks = 3
	for _, release := range []string{"0.19.1", "0.32.0", "0.33.0"} {
		bubble(t, release, func(t *testing.T) {
			network := new(inproc.Network)
			boss, addresses := coordinate(t, network, ranks)
			cores := make(engine.Cores, ranks)
			for i := range cores {
				cores[i] = of{&engine.Sim{StepTime: time.Duration(i+1) * time.Millisecond}, release}
			}
			client, err := pipeline.Connect(t.Context(), pipeline.Config{
				Transport: network, Engines: ranks, Launch: cores.Lockstep(), Coordinator: addresses, Lockstep: true,
				Release: release, Policy: new(policy.RoundRobin),
			})
			must(t, err)
			for burst := range 20 {
				began := time.Now()
				var streams []*pipeline.Stream
				for i := range 1 + burst%4 {
					s, err := client.Submit(t.Context(), generate(fmt.Sprint(burst, "-", i), 1+burst%5))
					must(t, err)
					streams = append(streams, s)
				}
				for _, s := range streams {
					if tokens, err := read(t, s); err != nil || len(tokens) != 1+burst%5 {
						t.Fatalf("burst %d: %d tokens, %v", burst, len(tokens), err)
					}
				}
				if took := time.Since(began); took > 250*time.Millisecond { // some 20 steps that others began
					t.Errorf("burst %d took %v", burst, took)
				}
				pass([]time.Duration{0, 2 * time.Millisecond, time.Second}[burst%3])
			}
			pass(10 * time.Second)
			s := boss.State()
			if s.Running || s.Wave < 7 || client.EnginesRunning() {
				t.Errorf("at the end %+v, %+v; the client thinks they run: %v", s, boss.Counters(), client.EnginesRunning())
			}
			if n := boss.Counters().FirstRequests; (n > 0) != (release != "0.33.0") {
				t.Errorf("%d first requests", n)
			}
			if r := client.Engines()[1].Ready; r != nil && r.StatsAddress != addresses.Front {
				t.Errorf("the engine names the coordinator %q", r.StatsAddress)
			}
			must(t, client.Close(t.Context()))
			must(t, boss.Close())
		})
	}
}

// of says that a core is of a release.
type of struct {
	*engine.Sim
	release string
}

func (o of) Ready() codec.Ready {
	r := o.Sim.Ready()
	r.Version = o.release
	return r
}

// group serves two ranks, without a handshake. Each has a front end of its own.
func group(t *testing.T, sims ...engine.Core) (rigs []*rig, boss *coordinator.Coordinator) {
	t.Helper()
	network := new(inproc.Network)
	boss, addresses := coordinate(t, network, len(sims))
	t.Cleanup(func() { must(t, boss.Close()) })
	for i, core := range engine.NewLockstep(0, sims...) {
		r := &rig{front: listen(t, network, i), done: make(chan error, 1)}
		ctx, stop := context.WithCancel(context.Background())
		r.stop = stop
		go func() {
			r.done <- engine.Serve(ctx, engine.Config{
				Transport: network, Rank: i, CoordinatorInput: addresses.BackPublish, CoordinatorOutput: addresses.BackOutput,
				Inputs: []string{r.input.Endpoint()}, Outputs: []string{r.output.Endpoint()},
			}, core)
			close(r.done)
		}()
		t.Cleanup(func() {
			stop()
			<-r.done
		})
		rigs = append(rigs, r)
	}
	for _, r := range rigs {
		r.ready()
	}
	return rigs, boss
}

func TestAStepTakesAsLongAsThatOfTheSlowest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rigs, boss := group(t, &engine.Sim{StepTime: time.Millisecond}, &engine.Sim{StepTime: 10 * time.Millisecond})
		synctest.Wait()
		began := time.Now()
		rigs[1].send([]byte{byte(codec.StartWave)}, codec.AppendStartWave(nil, 0, codec.Exclude{})) // as smg's client does
		rigs[0].add(generate("a", 3))
		for i := range 3 {
			rigs[0].next()
			if took := time.Since(began); took != time.Duration(i+1)*10*time.Millisecond {
				t.Errorf("token %d after %v, want 10 ms each", i, took)
			}
		}
		pass(time.Second)
		if s := boss.State(); s.Wave != 1 || s.Running || !slices.Equal(s.Loads, make([]codec.CountsRow, 2)) {
			t.Errorf("at the end %+v", s)
		}
	})
}

func TestARankThatGoesLeavesTheOthersHanging(t *testing.T) {
	for name, go1 := range map[string]func(*rig){
		"dead":    func(r *rig) { r.add(generate("dies", 5)) },
		"stopped": func(r *rig) { must(r.t, r.end()) },
	} {
		bubble(t, name, func(t *testing.T) {
			rigs, _ := group(t,
				&engine.Sim{StepTime: time.Millisecond},
				&engine.Sim{StepTime: time.Millisecond, Script: script(engine.Outcome{Die: true, After: 1})})
			rigs[1].send([]byte{byte(codec.StartWave)}, codec.AppendStartWave(nil, 0, codec.Exclude{}))
			rigs[0].add(generate("a", 100))
			rigs[0].next()
			go1(rigs[1])
			err := <-rigs[1].done
			if death := (*engine.DeathError)(nil); name == "dead" && !errors.As(err, &death) {
				t.Errorf("got %v", err)
			}
			for range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				p, err := rigs[0].output.Recv(ctx)
				cancel()
				if err != nil {
					break
				}
				o, err := rigs[0].layout.DecodeOutputs(p.Frames)
				must(t, err)
				if len(o.Rows) > 0 && o.Rows[0].Finish != codec.FinishNone {
					t.Fatal("the other rank finishes alone")
				}
			}
			must(t, rigs[0].end()) // it can still be ended
			if o := rigs[0].next(); len(o.Rows) != 1 || o.Rows[0].Finish != codec.FinishAbort {
				t.Errorf("got %+v, want the abort", o)
			}
		})
	}
}

func TestWithoutACoordinatorARankTellsItsClient(t *testing.T) { // offline
	synctest.Test(t, func(t *testing.T) {
		core := engine.NewLockstep(0, &engine.Sim{StepTime: time.Millisecond})[0]
		r := serve(t, core, 1)
		for wave := range 2 {
			r.add(generate("a", 1))
			if o := r.next(); len(o.Rows) != 1 {
				t.Errorf("got %+v", o)
			}
			if o := r.next(); o.WaveComplete == nil || *o.WaveComplete != wave || len(o.Rows) > 0 {
				t.Errorf("got %+v, want the end of wave %d", o, wave)
			}
		}
		r.silent()
	})
}

func TestARankHasItsPlace(t *testing.T) {
	core := engine.NewLockstep(0, &engine.Sim{}, &engine.Sim{})[1]
	err := engine.Serve(t.Context(), engine.Config{
		Transport: new(inproc.Network), Inputs: []string{"inproc://a"}, Outputs: []string{"inproc://b"},
	}, core)
	if want := "engine: Config.Rank: must be 1, the Core's place in its group, is 0"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
