// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/policy"
)

// twice passes every value on two times.
func twice[T any](ctx context.Context, in <-chan T, out chan<- T) error {
	for v := range in {
		for range 2 {
			if err := pipeline.Emit(ctx, out, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestWhatAStagePassesOnTwiceIsSentOnce(t *testing.T) {
	for name, wire := range map[string]func(*pipeline.Group, pipeline.Parts){
		"a command": wireWith(twice[pipeline.Command]),
		"encoded": func(g *pipeline.Group, p pipeline.Parts) {
			wireSending(g, p, twice[pipeline.Encoded], pipeline.Tap(func(pipeline.Routed) {}))
		},
		"routed": func(g *pipeline.Group, p pipeline.Parts) {
			wireSending(g, p, pipeline.Tap(func(pipeline.Encoded) {}), twice[pipeline.Routed])
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, peers, _ := connect(t, 1, func(c *pipeline.Config) { c.Wire = wire })
				for range 50 {
					s := submit(t, c, simple("r"))
					if m := peers[0].next(); m.kind != codec.Add || m.request.ID != "r" {
						t.Fatalf("got %v", m)
					}
					survives(t, peers[0], s)
				}
				peers[0].silent(time.Second)
			})
		})
	}
}

// wireSending is Wire with stages around route.
func wireSending(g *pipeline.Group, p pipeline.Parts, before pipeline.Stage[pipeline.Encoded, pipeline.Encoded], after pipeline.Stage[pipeline.Routed, pipeline.Routed]) {
	commands := pipeline.From(g, "submit", p.Buffer, p.Commands)
	encoded := pipeline.Via(g, "before", pipeline.Via(g, "encode", commands, p.Buffer, pipeline.Encode(p.Table)), p.Buffer, before)
	routed := pipeline.Via(g, "after", pipeline.Via(g, "route", encoded, p.Buffer, pipeline.Route(p.Policy, p.Table)), p.Buffer, after)
	pipeline.To(g, "send", routed, pipeline.Send(p.Input, p.Table))
	receiving(g, p)
}

func TestCommandsMadeByHandHurtNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forged := []pipeline.Command{nil, &pipeline.Add{}, &pipeline.Add{Request: simple("x")}, &pipeline.Call{Rank: 99}, &pipeline.Abort{}, &pipeline.StartWave{}}
		c, peers, _ := connect(t, 1, func(c *pipeline.Config) {
			c.Wire = wireWith(pipeline.Each(func(_ context.Context, v pipeline.Command, emit func(pipeline.Command) error) error {
				for _, f := range forged {
					if err := emit(f); err != nil {
						return err
					}
				}
				return emit(v)
			}))
		})
		s := submit(t, c, simple("r"))
		for m := peers[0].next(); m.kind != codec.Add; m = peers[0].next() {
			if m.kind != codec.StartWave { // the one that can be made
				t.Fatalf("got %v", m.kind)
			}
		}
		survives(t, peers[0], s)
	})
}

// rewriting has a stage that puts a changed copy in the place of each request.
func rewriting(change func(r *codec.Request)) func(*pipeline.Config) {
	return func(c *pipeline.Config) {
		c.Wire = wireWith(pipeline.Tap(func(v pipeline.Command) {
			if a, ok := v.(*pipeline.Add); ok {
				r := *a.Request
				change(&r)
				a.Request = &r
			}
		}))
	}
}

func TestAStageMayNotChangeTheID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1, rewriting(func(r *codec.Request) { r.ID += "-1" }))
		var f *codec.FieldError
		if err := failure(submit(t, c, simple("r"))); !errors.As(err, &f) || f.Field != "request_id" {
			t.Fatalf("got %v", err)
		}
		peers[0].silent(time.Second)
	})
}

func TestWhatAStageMakesFatalIsRefusedBeforeItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1, rewriting(func(r *codec.Request) { r.Sampling = &codec.SamplingParams{MaxTokens: 1, Temperature: new(3.0)} }))
		err := failure(submit(t, c, simple("r")))
		var f *codec.FieldError
		var r *pipeline.RequestError
		if !errors.As(err, &f) || f.Field != "temperature" || !errors.As(err, &r) || r.Op != "encode" {
			t.Fatalf("got %v", err)
		}
		peers[0].silent(time.Second)
	})
}

func TestMaxTokensAreNeverLeftOutOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1, rewriting(func(r *codec.Request) { r.Prompt = make([]uint32, 100) })) // all that the model holds
		r := simple("r")
		r.Sampling = &codec.SamplingParams{}
		var f *codec.FieldError
		if err := failure(submit(t, c, r)); !errors.As(err, &f) || f.Field != "sampling_params.max_tokens" {
			t.Fatalf("got %v", err)
		}
		peers[0].silent(time.Second)
	})
}

// startled is a policy whose ear panics.
type startled struct{ policy.RoundRobin }

func (*startled) Reported([]policy.Engine) { panic("oh") }

func TestAPanicOfAReporterFailsThatRequestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1, func(c *pipeline.Config) { c.Policy = &startled{} })
		innocent := submit(t, c, simple("innocent"))
		peers[0].next()
		o := codec.Outputs{Rows: []codec.Output{row("innocent", codec.FinishNone, 1)}, Timestamp: 1}
		o.SetStats(&codec.SchedulerStats{NumRunning: 1})
		peers[0].put(o)
		synctest.Wait()
		if err := failure(submit(t, c, simple("unlucky"))); !errors.As(err, new(*pipeline.PolicyError)) {
			t.Fatalf("got %v", err)
		}
		survives(t, peers[0], innocent)
	})
}

func TestCloseEndsWiresThatDoNotEndThemselves(t *testing.T) {
	for name, wire := range map[string]func(*pipeline.Group, pipeline.Parts){
		"a source that runs until its context ends": func(g *pipeline.Group, p pipeline.Parts) {
			pipeline.To(g, "ticks", pipeline.From(g, "ticker", 0, func(ctx context.Context, _ chan<- int) error {
				<-ctx.Done()
				return context.Cause(ctx)
			}), collect(new([]int)))
			pipeline.Wire(g, p)
		},
		"a Send that is made and not run": func(g *pipeline.Group, p pipeline.Parts) {
			pipeline.Send(p.Input, p.Table)
			pipeline.Wire(g, p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _, _ := connect(t, 1, func(c *pipeline.Config) { c.Wire = wire })
				if err := c.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestAdmissionByHandIsNotTheClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var table *pipeline.Table
		c, _, _ := connect(t, 1, func(c *pipeline.Config) {
			c.Wire = func(g *pipeline.Group, p pipeline.Parts) { table = p.Table; pipeline.Wire(g, p) }
		})
		for range 3 {
			_, s, err := table.Admit(simple("r"))
			if err != nil {
				t.Fatal(err)
			}
			s.Close() // gives no room back that was not taken
		}
		if _, err := c.Submit(t.Context(), nil); !errors.As(err, new(*codec.FieldError)) {
			t.Fatalf("no request: %v", err)
		}
		if s := pipeline.EngineState(9).String(); s != "unknown(9)" {
			t.Fatal(s)
		}
	})
}
