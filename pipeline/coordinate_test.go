// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

const fixedFront = "inproc://front"

// front is a coordinator's end of the wire, worked by hand.
type front struct {
	t    *testing.T
	conn transport.Conn
}

func openFront(t *testing.T, net transport.Transport, address string) *front {
	t.Helper()
	c, err := net.Open(t.Context(), transport.Socket{Pattern: transport.XPub, Endpoint: address, Bind: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &front{t, c}
}

// publish waits until the client has taken what is said.
func (f *front) publish(c codec.Counts) {
	f.t.Helper()
	f.raw(codec.AppendCounts(nil, &c))
}

func (f *front) raw(b []byte) {
	f.t.Helper()
	if err := f.conn.Send(transport.Packet{Frames: [][]byte{b}, Shared: 1}); err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
}

// next is the first thing that a client said; subscriptions are passed over.
func (f *front) next() (codec.CoordinatorCall, bool) {
	f.t.Helper()
	for {
		ctx, cancel := context.WithTimeout(f.t.Context(), time.Millisecond)
		p, err := f.conn.Recv(ctx)
		cancel()
		if err != nil {
			return codec.CoordinatorCall{}, false
		}
		if p.Frames[0][0] <= 1 {
			continue
		}
		call, err := codec.DecodeCoordinatorCall(p.Frames[0])
		if err != nil {
			f.t.Fatal(err)
		}
		return call, true
	}
}

// coordinated makes a client of peers of a release, and their coordinator.
func coordinated(t *testing.T, n int, release string, change func(*pipeline.Config)) (*pipeline.Client, []*peer, *front) {
	t.Helper()
	var f *front
	c, peers, _ := connectReleases(t, slices.Repeat([]string{release}, n), func(c *pipeline.Config) {
		f = openFront(t, c.Transport, fixedFront)
		c.Coordinator.Front = fixedFront
		if change != nil {
			change(c)
		}
	})
	synctest.Wait()
	return c, peers, f
}

// identity names an engine as vLLM does.
func identity(rank int) codec.Exclude { return codec.Exclude{Set: true, Rank: rank, Identity: true} }

func TestAFirstRequestWakesTheOthersOnce(t *testing.T) { // F7
	synctest.Test(t, func(t *testing.T) {
		c, peers, f := coordinated(t, 2, "0.32.0", func(c *pipeline.Config) { c.Lockstep = true })
		to := func(rank int, id string) *codec.Request {
			r := simple(id)
			r.DataParallelRank = &rank
			return r
		}
		submit(t, c, to(1, "a"))
		peers[1].next()
		if call, ok := f.next(); !ok || call != (codec.CoordinatorCall{Engine: identity(1)}) {
			t.Fatalf("got %+v, %v", call, ok)
		}
		submit(t, c, to(1, "b"))
		peers[1].next()
		if call, ok := f.next(); ok || !c.EnginesRunning() {
			t.Fatalf("got %+v, and running is %v", call, c.EnginesRunning())
		}
		f.publish(codec.Counts{Wave: 4}) // the wave is over
		if c.EnginesRunning() {
			t.Fatal("still running")
		}
		submit(t, c, to(0, "c"))
		if m := peers[0].next(); m.request.CurrentWave != 4 {
			t.Fatalf("stamped with wave %d", m.request.CurrentWave)
		}
		if call, ok := f.next(); !ok || call != (codec.CoordinatorCall{Engine: identity(0), Wave: 4}) {
			t.Fatalf("got %+v, %v", call, ok)
		}
	})
}

func TestNewEnginesWakeEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, f := coordinated(t, 1, "0.33.0", nil)
		submit(t, c, simple("a"))
		peers[0].next()
		if call, ok := f.next(); ok {
			t.Fatalf("got %+v", call)
		}
	})
}

func TestReportsReachTheEnginesOfTheirRanks(t *testing.T) {
	row := func(n int) codec.CountsRow { return codec.CountsRow{Waiting: n, Running: 10 * n, KVUsage: 0.1} }
	synctest.Test(t, func(t *testing.T) {
		c, _, f := coordinated(t, 2, "0.32.0", func(c *pipeline.Config) { c.FirstRank = 2 }) // hybrid
		want := func(running ...int) {
			t.Helper()
			for i, e := range c.Engines() {
				if e.Load.Running != running[i] {
					t.Errorf("rank %d has %+v, want %d running", e.Rank, e.Load, running[i])
				}
			}
		}
		f.publish(codec.Counts{Rows: []codec.CountsRow{row(1), row(2), row(3), row(4)}})
		want(30, 40)
		f.publish(codec.Counts{Rows: []codec.CountsRow{row(5), row(6), row(7)}}) // shorter
		want(70, 40)
		f.publish(codec.Counts{Rows: []codec.CountsRow{row(1), row(1), row(8), row(9), row(1), row(1)}}) // longer
		want(80, 90)
		f.publish(codec.Counts{Wave: 1, Running: true}) // of the wave alone
		want(80, 90)
		f.raw([]byte{0x93, 0x94, 0x92, 0, 1, 0x92, 0, 2, 0x92, 0, 3, 0x92, 0, 4, 0, 0xc2}) // pairs, as before 0.29.0
		want(3, 4)
		for _, junk := range [][]byte{{}, {0xc1}, {0x91, 0xc0}, {0x93, 0x91, 0x91, 1, 0, 0xc2}} {
			f.raw(junk)
		}
		want(3, 4)
		if n := c.Counters().Malformed; n != 4 {
			t.Errorf("%d were malformed", n)
		}
	})
}

func TestASilentCoordinatorLeavesTheCountsOfOurOwn(t *testing.T) { // R14
	synctest.Test(t, func(t *testing.T) {
		var seen []policy.Engine
		c, peers, f := coordinated(t, 2, "0.32.0", func(c *pipeline.Config) {
			c.Policy = policy.Func(func(_ policy.Request, e []policy.Engine) int { seen = slices.Clone(e); return 0 })
		})
		f.publish(codec.Counts{Rows: []codec.CountsRow{{Running: 5}, {Running: 7}}})
		submit(t, c, simple("a"))
		peers[0].next()
		if seen[1].Running != 7 || seen[1].Stale || c.Counters().Blind != 0 {
			t.Fatalf("saw %+v, %d choices were blind", seen, c.Counters().Blind)
		}
		time.Sleep(pipeline.DefaultStaleAfter + time.Second) // fake
		submit(t, c, simple("b"))
		peers[0].next()
		if seen[0].InFlight != 1 || seen[1].Running != 0 || !seen[1].Stale || c.Counters().Blind != 1 {
			t.Fatalf("saw %+v, %d choices were blind", seen, c.Counters().Blind)
		}
	})
}

func TestTheCoordinatorOfTheReadyMessage(t *testing.T) {
	for name, c := range map[string]struct {
		given string
		said  []string
		ok    bool
	}{
		"one engine says it (external)": {"", []string{fixedFront}, true},
		"both say the same":             {fixedFront, []string{fixedFront, fixedFront}, true},
		"one says nothing":              {"", []string{"", fixedFront}, true},
		"two say different ones":        {"", []string{fixedFront, "inproc://other"}, false},
		"the Config says another":       {"inproc://other", []string{fixedFront}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := new(inproc.Network)
				f := openFront(t, net, fixedFront)
				for rank, address := range c.said {
					dial(t, net, fixedInput, fixedOutput, rank).ready(codec.Ready{Version: "0.32.0", StatsAddress: address})
				}
				client, err := pipeline.Connect(t.Context(), pipeline.Config{
					Transport: net, Engines: len(c.said), Input: fixedInput, Output: fixedOutput,
					Coordinator: pipeline.CoordinatorAddresses{Front: c.given},
				})
				if !c.ok {
					if !errors.Is(err, pipeline.ErrCoordinators) {
						t.Fatalf("got %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer shut(t, client)
				synctest.Wait()
				f.publish(codec.Counts{Wave: 3, Running: true})
				if !client.EnginesRunning() {
					t.Fatal("the report did not arrive")
				}
			})
		})
	}
}

func TestWithoutACoordinatorTheEngineTellsTheEndOfAWave(t *testing.T) { // offline
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1, func(c *pipeline.Config) { c.Lockstep, c.FirstRank = true, 1 })
		if c.EnginesRunning() {
			t.Fatal("running before the first request")
		}
		s := submit(t, c, simple("a"))
		peers[0].next()
		peers[0].rows(row("a", codec.FinishStop, 1))
		if _, _, err := read(s); err != nil || !c.EnginesRunning() {
			t.Fatalf("%v, and running is %v: others may have work", err, c.EnginesRunning())
		}
		peers[0].put(codec.Outputs{WaveComplete: new(0), Timestamp: 1})
		synctest.Wait()
		if c.EnginesRunning() {
			t.Fatal("running after the end of the wave")
		}
		submit(t, c, simple("b"))
		if m := peers[0].next(); m.request.CurrentWave != 1 || !c.EnginesRunning() {
			t.Fatalf("stamped with wave %d, running is %v", m.request.CurrentWave, c.EnginesRunning())
		}
	})
}
