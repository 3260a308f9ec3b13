// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"slices"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"pgregory.net/rapid"
)

// TestNoRequestIsLeftInASleepingWave lets requests, first requests, wakes, ends
// of waves and publications overtake each other in every way. When all has
// arrived, every request must have been served: no engine sleeps while another
// waits for it.
func TestNoRequestIsLeftInASleepingWave(t *testing.T) {
	rounds := 20 // of rapid's 100
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		rapid.Check(t, interleave)
	}
}

func interleave(t *rapid.T) {
	engines := rapid.IntRange(2, 4).Draw(t, "engines")
	clients := rapid.IntRange(1, 3).Draw(t, "clients")
	g := newGroup(engines, clients)
	g.identity = rapid.Bool().Draw(t, "identity")
	for range rapid.IntRange(1, 80).Draw(t, "actions") {
		switch rapid.IntRange(0, 9).Draw(t, "action") {
		case 0, 1:
			client := rapid.IntRange(0, clients-1).Draw(t, "client")
			g.submit(client, rapid.IntRange(0, engines-1).Draw(t, "engine"))
		case 2:
			finish := rapid.Bool().Draw(t, "finish")
			g.step(func(int) bool { return finish })
		case 3:
			g.publish(g.core.Publish())
		default:
			g.deliver(rapid.IntRange(0, g.queues()-1).Draw(t, "queue"))
		}
	}
	for moved := true; moved; {
		moved = false
		for i := range g.queues() {
			for g.deliver(i) {
				moved = true
			}
		}
		moved = g.step(func(int) bool { return true }) || moved
	}
	for i, e := range g.engines {
		if e.requests > 0 || e.running {
			t.Fatalf("engine %d has %d requests and runs: %v, in wave %d; engines %+v", i, e.requests, e.running, e.wave, g.waves())
		}
	}
	if got := g.core.State(); got.Running || got.Wave != g.engines[0].wave {
		t.Fatalf("all sleep before wave %d, and the coordinator has %+v", g.engines[0].wave, got)
	}
}

func (g *group) waves() (waves []rank) {
	for _, e := range g.engines {
		waves = append(waves, *e)
	}
	return waves
}

// TestPublicationsNeverMixSteps holds what is published to a model that keeps
// the loads at the end of every step. In lockstep a publication is the end of a
// step, the last one before the newest, or else all that was said; without, it is
// always all. What was said last is published at last.
func TestPublicationsNeverMixSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lockstep := rapid.Bool().Draw(t, "lockstep")
		c := coordinator.NewCore(3, lockstep)
		now := make([]codec.CountsRow, 3) // what the engines said last
		var ended []codec.CountsRow       // the same at the end of the step before, unpublished
		step, newest, news := 0, -1, false
		for i := range rapid.IntRange(0, 60).Draw(t, "actions") {
			switch rapid.IntRange(0, 3).Draw(t, "action") {
			case 0:
				step++
			case 1:
				want := ended
				if ended == nil {
					want, news = now, false
				}
				if got := c.Publish(); !slices.Equal(got.Rows, want) {
					t.Fatalf("published %+v, want %+v", got.Rows, want)
				}
				ended = nil
			default:
				if lockstep && step > newest && news {
					ended = slices.Clone(now)
				}
				rank := rapid.IntRange(0, 2).Draw(t, "rank")
				newest, news = step, true
				now[rank] = codec.CountsRow{Waiting: i, Running: step}
				c.Report(rank, codec.Load{Waiting: i, Running: step, Step: step})
			}
		}
		c.Publish()
		if got := c.Publish().Rows; !slices.Equal(got, now) {
			t.Fatalf("at last %+v, want %+v", got, now)
		}
	})
}
