// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo && linux

package main_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/corepipe/corepipe/pipeline"
)

// atOnce is what a request may take, on a machine with other work to do. One that
// waits for another to wake its engines waits for ever: there is none before it has
// its answer.
const atOnce = 5 * time.Second

// bursts sends bursts of a few requests to two ranks in lockstep. Those that are
// patient wait until the coordinator says that the wave has ended, so that each
// begins another one; the others come around that moment.
type bursts struct {
	*testing.T
	*rand.Rand
	client *pipeline.Client
	heard  *audience
	sent   int
	took   []time.Duration
	ranks  [2]int
}

func newBursts(t *testing.T, c *pipeline.Client, a *audience) *bursts {
	return &bursts{T: t, Rand: rand.New(rand.NewPCG(5, 50)), client: c, heard: a}
}

// patient returns how many waves ended.
func (b *bursts) patient(n int) {
	b.Helper()
	_, before := b.heard.waves()
	for range n {
		_, ended := b.heard.waves()
		b.burst()
		soon(b.T, 10*time.Second, "end of the wave", func() bool { _, now := b.heard.waves(); return now > ended })
		soon(b.T, 10*time.Second, "rest", func() bool { return !b.client.EnginesRunning() })
	}
	began, ended := b.heard.waves()
	b.Logf("%d bursts: %d waves ended, %d beginnings were told", n, ended-before, began)
	if ended-before < n {
		b.Errorf("%d waves for %d bursts, want one for each at least", ended-before, n)
	}
}

// impatient pauses for up to as long as a wave goes on after its last request.
func (b *bursts) impatient(n int, pause time.Duration) {
	b.Helper()
	_, before := b.heard.waves()
	for range n {
		b.burst()
		<-time.NewTimer(time.Duration(b.Int64N(int64(pause)))).C
	}
	_, ended := b.heard.waves()
	b.Logf("%d bursts without waiting: %d waves ended between them", n, ended-before)
	if ended == before {
		b.Errorf("no wave ended in pauses up to %v, want some to end and some to go on", pause)
	}
}

func (b *bursts) burst() {
	b.Helper()
	b.sent++
	requests := prompts(fmt.Sprint("b", b.sent), 1+b.IntN(4), func(int) int { return 1 + b.IntN(16) })
	for i, a := range all(b.T, b.client, len(requests), requests) {
		if b.took = append(b.took, a.took); a.took > atOnce {
			b.Errorf("burst %d: request %d of %d took %v at engine %d", b.sent, i, len(requests), a.took, a.rank)
		}
		b.ranks[max(a.rank, 0)]++
	}
	if b.Failed() {
		b.FailNow()
	}
}

// report says how it went.
func (b *bursts) report() {
	b.Helper()
	slices.Sort(b.took)
	n := len(b.took)
	b.Logf("%d requests in %d bursts, to the engines %v: median %v, slowest %v", n, b.sent, b.ranks, b.took[n/2], b.took[n-1])
	if b.ranks[0] == 0 || b.ranks[1] == 0 {
		b.Errorf("engines got %v requests, want both used", b.ranks)
	}
}

// checkTokens checks those of simulated engines.
func checkTokens(t *testing.T, vocab int, answers []answer) {
	t.Helper()
	for _, a := range answers {
		if want := simulated(a.Request, vocab); !slices.Equal(a.tokens, want) {
			t.Errorf("request %s: tokens %v, want %v", a.ID, a.tokens, want)
		}
	}
}
