// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport/inproc"
)

// ledger is a policy that keeps count of what it is told, and of what cannot be.
type ledger struct {
	policy.RoundRobin
	live   map[int]int // rank by slot
	firsts map[int]bool
	events map[policy.Kind]int
	wrong  []string
}

func newLedger() *ledger {
	return &ledger{live: map[int]int{}, firsts: map[int]bool{}, events: map[policy.Kind]int{}}
}

func (l *ledger) Routed(r policy.Request, e policy.Engine) {
	if _, taken := l.live[r.Slot]; taken {
		l.wrong = append(l.wrong, fmt.Sprintf("%s has the slot %d of another", r.ID, r.Slot))
	}
	l.live[r.Slot] = e.Rank
	delete(l.firsts, r.Slot)
}

func (l *ledger) Observe(events []policy.Event) {
	for _, e := range events {
		l.events[e.Kind]++
		if e.Kind == policy.Gone {
			continue
		}
		if rank, ok := l.live[e.Slot]; !ok || rank != e.Rank {
			l.wrong = append(l.wrong, fmt.Sprintf("%+v is of nobody", e))
		}
		switch e.Kind {
		case policy.First:
			if l.firsts[e.Slot] {
				l.wrong = append(l.wrong, fmt.Sprintf("%+v comes twice", e))
			}
			l.firsts[e.Slot] = true
		default:
			delete(l.live, e.Slot)
		}
	}
}

// tangle is a client whose requests end in every way.
type tangle struct {
	*testing.T
	*rand.Rand
	client  *pipeline.Client
	net     *inproc.Network
	peers   []*peer
	streams map[string]*pipeline.Stream
	n       int
}

func (g *tangle) one() (id string, s *pipeline.Stream) {
	for id, s := range g.streams {
		return id, s
	}
	return "", nil
}

// step is one event, of which there are as many kinds as cases.
func (g *tangle) step() {
	id, s := g.one()
	if s == nil || g.IntN(2) == 0 {
		g.n++
		r := simple(fmt.Sprint("r", g.n))
		if g.IntN(4) == 0 {
			r.DataParallelRank = new(g.IntN(len(g.peers)))
		}
		if s, err := g.client.Submit(g.Context(), r); err == nil {
			g.streams[r.ID] = s
		}
		return
	}
	delete(g.streams, id)
	synctest.Wait() // it has its engine
	rank := s.Rank()
	p := g.peers[rank]
	switch g.IntN(8) {
	case 0, 1, 2:
		g.streams[id] = s
		p.rows(row(id, codec.FinishNone, 1))
	case 3:
		p.rows(row(id, codec.FinishNone, 1), row(id, codec.FinishStop, 2))
	case 4:
		p.rows(row(id, codec.FinishError))
	case 5:
		s.Close()
	case 6:
		_ = g.client.Abort(g.Context(), id)
	case 7:
		if g.IntN(20) > 0 {
			g.streams[id] = s
			return
		}
		for id, s := range g.streams { // they go down with it
			if s.Rank() == rank {
				delete(g.streams, id)
			}
		}
		g.peers[rank] = dial(g.T, g.net, fixedInput, fixedOutput, rank).ready(codec.Ready{MaxModelLen: 100, Version: codec.DefaultRelease})
		synctest.Wait()
	}
}

func TestR15ThePolicysCountsAreTheLiveRequests(t *testing.T) {
	events := 10_000
	if raceEnabled {
		events = 1000
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		c, peers, net := connect(t, 3, func(c *pipeline.Config) { c.Policy = l })
		g := &tangle{T: t, Rand: rand.New(rand.NewPCG(1, 2)), client: c, net: net, peers: peers, streams: map[string]*pipeline.Stream{}}
		settled := func(want int) {
			t.Helper()
			synctest.Wait()
			if _, err := c.Explain(simple("x")); err != nil { // hands over what has happened
				t.Fatal(err)
			}
			inFlight := 0
			for _, e := range c.Engines() {
				inFlight += e.InFlight
			}
			if len(l.live) != want || inFlight != want || len(l.wrong) > 0 {
				t.Fatalf("the policy counts %d, the engines %d, and %d are live; wrong: %v", len(l.live), inFlight, want, l.wrong)
			}
		}
		for i := range events {
			g.step()
			if i%10 == 0 {
				settled(len(g.streams))
			}
		}
		for _, s := range g.streams {
			s.Close()
		}
		settled(0)
		for _, k := range []policy.Kind{policy.First, policy.Finished, policy.Aborted, policy.Gone} {
			if l.events[k] == 0 {
				t.Errorf("no event of kind %d: the test tests nothing", k)
			}
		}
	})
}

func TestThePolicyIsExchangedWhileRequestsRun(t *testing.T) { // U6
	synctest.Test(t, func(t *testing.T) {
		first, second := newLedger(), newLedger()
		c, peers, _ := connect(t, 2, func(c *pipeline.Config) { c.Policy = first })
		a, b := submit(t, c, simple("a")), submit(t, c, simple("b"))
		synctest.Wait()
		c.SetPolicy(second)
		if len(second.live) != 2 {
			t.Fatalf("the new one knows of %v", second.live)
		}
		survives(t, peers[a.Rank()], a)
		survives(t, peers[b.Rank()], b)
		submit(t, c, simple("c"))
		synctest.Wait()
		if len(second.live) != 1 || len(first.live) != 2 || len(first.wrong)+len(second.wrong) > 0 {
			t.Fatalf("the old one has %v, the new one %v, wrong is %v %v", first.live, second.live, first.wrong, second.wrong)
		}
		c.SetPolicy(policy.Func(func(policy.Request, []policy.Engine) int { return 1 }))
		d := submit(t, c, simple("d"))
		if synctest.Wait(); d.Rank() != 1 {
			t.Fatalf("d went to %d", d.Rank())
		}
	})
}

func TestDecisionsAreExplainedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 2)
		pinned := simple("pinned")
		pinned.DataParallelRank = new(1)
		submit(t, c, pinned)
		peers[1].next()
		x, err := c.Explain(simple("r"))
		if err != nil || x.Pick != 0 || x.Reason != policy.LeastLoad || len(x.Scores) != 2 || x.Scores[0] >= x.Scores[1] || x.Ranks[1] != 1 {
			t.Fatalf("got %+v, %v", x, err)
		}
		again, _ := c.Explain(simple("r"))
		if again.Pick != x.Pick {
			t.Fatalf("asked again: %+v", again)
		}
		if s := submit(t, c, simple("r")); peers[0].next().request.ID != "r" || s.Rank() != 0 {
			t.Fatalf("and it went to %d", s.Rank())
		}
		if x, err := c.Explain(pinned); err != nil || x.Reason != policy.Pin || x.Ranks[0] != 1 {
			t.Fatalf("a pin: got %+v, %v", x, err)
		}
		pinned.DataParallelRank = new(2)
		if _, err := c.Explain(pinned); !errors.As(err, new(*pipeline.PinError)) {
			t.Fatalf("got %v", err)
		}
		d := c.Decisions()
		if d[policy.Decision{Reason: policy.Pin}] != 1 || d[policy.Decision{Policy: "least-loaded", Reason: policy.LeastLoad}] != 1 || len(d) != 2 {
			t.Fatalf("got %v", d)
		}
	})
}

func TestARefusalIsNoFirstOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		c, peers, _ := connect(t, 1, func(c *pipeline.Config) { c.Policy = l })
		s := submit(t, c, simple("r"))
		peers[0].next()
		peers[0].rows(row("r", codec.FinishError))
		if err := failure(s); !errors.As(err, new(*pipeline.FinishError)) {
			t.Fatalf("got %v", err)
		}
		if _, err := c.Explain(simple("x")); err != nil || l.events[policy.First] != 0 || l.events[policy.Aborted] != 1 {
			t.Fatalf("%v, and the policy saw %v", err, l.events)
		}
	})
}
