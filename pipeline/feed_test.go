// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport/inproc"
)

// pull reads a feed step by step.
func pull(ctx context.Context, t *testing.T, c *pipeline.Client) func() (pipeline.Step, error, bool) {
	t.Helper()
	next, stop := iter.Pull2(c.Outputs(ctx))
	t.Cleanup(stop)
	return next
}

func TestTheRawFeedHasStepsWithOutputsOrStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 2)
		next := pull(t.Context(), t, c)
		s := submit(t, c, simple("s"))
		if err := c.Add(t.Context(), simple("raw")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p := peers[s.Rank()]
		p.put(codec.Outputs{Timestamp: 1, WaveComplete: new(1)})
		p.put(codec.Outputs{Timestamp: 2, Finished: []string{"other"}})
		p.rows(row("s", codec.FinishNone, 7))
		stats := codec.Outputs{Timestamp: 3}
		stats.SetStats(&codec.SchedulerStats{NumRunning: 4})
		p.put(stats)
		if step, err, ok := next(); !ok || err != nil || step.Rank != p.rank || string(step.Outputs.Rows[0].ID) != "s" || step.Outputs.Rows[0].Tokens[0] != 7 {
			t.Fatalf("got %+v, %v", step, err)
		}
		if step, err, _ := next(); err != nil || len(step.Outputs.Rows) != 0 || step.Outputs.Timestamp != 3 {
			t.Fatalf("got %+v, %v", step.Outputs, err)
		}
		if o, err := s.Next(t.Context()); err != nil || o.Tokens[0] != 7 {
			t.Fatalf("the stream got %v, %v", o, err)
		}
	})
}

func TestARequestWithoutAStreamIsLiveUntilItsLastOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		next := pull(t.Context(), t, c)
		for _, id := range []string{"a", "b", "c"} {
			if err := c.Add(t.Context(), simple(id)); err != nil {
				t.Fatal(err)
			}
			peers[0].next()
		}
		if err := c.Add(t.Context(), simple("a")); !errors.Is(err, pipeline.ErrDuplicate) {
			t.Fatalf("got %v", err)
		}
		peers[0].rows(row("a", codec.FinishNone, 1), row("b", codec.FinishLength, 2))
		if step, err, _ := next(); err != nil || len(step.Outputs.Rows) != 2 {
			t.Fatalf("got %+v, %v", step, err)
		}
		if n := c.Engines()[0].InFlight; n != 2 {
			t.Fatalf("%d in flight", n)
		}
		_ = c.Abort(t.Context(), "a", "c")
		if m := peers[0].next(); m.kind != codec.Abort || !slices.Equal(m.ids, []string{"a", "c"}) {
			t.Fatalf("got %+v", m)
		}
		if n := c.Engines()[0].InFlight; n != 0 {
			t.Fatalf("%d in flight", n)
		}
	})
}

func TestTheRawFeedTellsOfADeathOnceAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := new(inproc.Network)
		sims := engine.Cores{&engine.Sim{Script: dies}, &engine.Sim{}}
		c, err := pipeline.Connect(t.Context(), pipeline.Config{Transport: net, Launch: sims, Engines: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer shut(t, c)
		next := pull(t.Context(), t, c)
		for rank := range 2 {
			r := simple(fmt.Sprint("r", rank))
			r.DataParallelRank = &rank
			if err := c.Add(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		deaths, tokens := 0, 0
		for tokens < 16 {
			if tokens == 8 && deaths == 1 { // what comes after it
				again := simple("again")
				again.DataParallelRank = new(1)
				if err := c.Add(t.Context(), again); err != nil && !errors.Is(err, pipeline.ErrDuplicate) {
					t.Fatal(err)
				}
			}
			step, err, ok := next()
			switch e, dead := errors.AsType[*pipeline.EngineError](err); {
			case !ok || err != nil && (!dead || e.Rank != 0 || step.Rank != 0 || !errors.Is(err, pipeline.ErrEngineDead)):
				t.Fatalf("got %+v, %v", step, err)
			case err != nil:
				deaths++
			case step.Rank == 1:
				tokens += len(step.Outputs.Rows[0].Tokens)
			}
		}
		if deaths != 1 {
			t.Fatalf("%d deaths", deaths)
		}
	})
}

func TestTheRawFeedTellsOfARequestThatFailsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connectReleases(t, []string{"0.20.2"})
		next := pull(t.Context(), t, c)
		for _, r := range []*codec.Request{newer("bad"), simple("good")} {
			if err := c.Add(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		if _, err, ok := next(); !ok || !errors.Is(err, codec.ErrUnsupported) || !strings.Contains(err.Error(), "bad") {
			t.Fatalf("got %v", err)
		}
		peers[0].next()
		peers[0].rows(row("good", codec.FinishStop, 1))
		if step, err, _ := next(); err != nil || step.Outputs.Rows[0].Finish != codec.FinishStop {
			t.Fatalf("got %+v, %v", step, err)
		}
	})
}

// dies is a script of an engine that dies of its first request.
func dies(int, *codec.Request) engine.Outcome { return engine.Outcome{Die: true} }

func TestHowARawFeedEnds(t *testing.T) {
	why := errors.New("enough")
	for name, c := range map[string]struct {
		do   func(t *testing.T, c *pipeline.Client, p *peer, cancel context.CancelCauseFunc)
		want error
	}{
		"with its context": {func(_ *testing.T, _ *pipeline.Client, _ *peer, cancel context.CancelCauseFunc) { cancel(why) }, why},
		"with the client":  {func(t *testing.T, c *pipeline.Client, _ *peer, _ context.CancelCauseFunc) { shut(t, c) }, pipeline.ErrClosed},
		"behind": {func(_ *testing.T, _ *pipeline.Client, p *peer, _ context.CancelCauseFunc) {
			for range pipeline.MaxUnread + 1 {
				p.rows(row("x", codec.FinishNone, 1))
			}
		}, pipeline.ErrBehind},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, peers, _ := connect(t, 1)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				feed := client.Outputs(ctx)
				for _, err := range client.Outputs(ctx) {
					if !errors.Is(err, pipeline.ErrFeedTaken) {
						t.Fatalf("a second one: got %v", err)
					}
				}
				peers[0].rows(row("x", codec.FinishNone, 1))
				synctest.Wait()
				c.do(t, client, peers[0], cancel)
				synctest.Wait()
				steps, errs := 0, []error(nil)
				for _, err := range feed {
					if err != nil {
						errs = append(errs, err)
						continue
					}
					steps++
				}
				if len(errs) != 1 || !errors.Is(errs[0], c.want) || steps == 0 {
					t.Fatalf("%d steps, then %v", steps, errs)
				}
				gone, now := context.WithCancel(t.Context())
				now()
				for _, err := range client.Outputs(gone) {
					if errors.Is(err, pipeline.ErrFeedTaken) {
						t.Fatal("there is no room for another")
					}
				}
			})
		})
	}
}
