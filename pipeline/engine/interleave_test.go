// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// rounds of rapid's 100 interleavings for each release.
const rounds = 100

// No request is ever left waiting in a sleeping wave: whatever the order in which
// requests, first requests, wakes, words of waves and publications arrive, when
// all have arrived every request has been served, and all ranks sleep.
func TestNoRequestIsLeftInASleepingWave(t *testing.T) {
	n := rounds
	if testing.Short() || raceDetector {
		n = 2
	}
	for _, release := range []string{"0.32.0", "0.33.0"} {
		t.Run(release, func(t *testing.T) {
			for range n {
				rapid.Check(t, func(t *rapid.T) {
					if err := interleave(release, "", func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }); err != nil {
						t.Fatal(err)
					}
				})
			}
		})
	}
}

// The property can fail: it does when a part of the protocol is taken away.
func TestSomeRequestIsLeftWithout(t *testing.T) {
	for _, c := range []struct{ release, lose string }{
		{"0.32.0", "first request"},
		{"0.32.0", "wake"},
		{"0.32.0", "start"},
		{"0.32.0", "complete"},
		{"0.33.0", "wake"},
		{"0.33.0", "start"},
		{"0.33.0", "complete"},
	} {
		t.Run(c.release+" without "+c.lose, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(1, 2)).IntN
			for range 1000 {
				if interleave(c.release, c.lose, draw) != nil {
					return
				}
			}
			t.Error("1000 interleavings went well")
		})
	}
}

// interleave draws a world and what happens in it, and returns what is wrong at
// the end.
func interleave(release, lose string, draw func(n int) int) error {
	ranks, callers := 2+draw(3), 1+draw(3)
	w := newWorld(release, ranks, callers, []int{1, 3, 0}[draw(3)])
	w.lose = lose
	// A client that leaves an engine out by number must be sure that it has work;
	// see TestARankThatIsLeftOutMustHaveWork.
	whole := draw(2) == 1
	for range 1 + draw(80) {
		switch draw(12) {
		case 0, 1:
			w.submit(draw(callers), draw(ranks), add{tokens: 1 + draw(4), refused: whole && draw(8) == 7}, whole)
		case 2:
			if whole {
				w.abort(draw(callers), draw(ranks))
			}
		case 3, 4:
			w.step(draw(ranks))
		case 5, 6:
			w.end(draw(ranks))
		case 7:
			w.publish(w.coordinator.Publish())
		default:
			w.deliver(draw(w.ways()))
		}
	}
	return w.settle()
}
