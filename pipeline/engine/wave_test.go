// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
)

// pair is a group of two ranks and what they have said.
type pair struct {
	*testing.T
	ranks []*engine.Rank
	said  []string
	ids   int
}

// newPair makes one that looks for work in every step. No release: no coordinator.
func newPair(t *testing.T, release string) *pair {
	t.Helper()
	p := &pair{T: t, ranks: engine.NewLockstep(1, &engine.Sim{StepTime: time.Second}, &engine.Sim{StepTime: 2 * time.Second})}
	if release != "" {
		l, err := codec.LayoutOf(release)
		must(t, err)
		for _, r := range p.ranks {
			r.Coordinate(l)
		}
	}
	return p
}

// add gives a rank a request of a wave.
func (p *pair) add(rank, wave, tokens int) {
	r := generate(fmt.Sprint("r", p.ids), tokens)
	p.ids++
	r.CurrentWave = wave
	p.ranks[rank].Add(r)
	p.hear()
}

func (p *pair) hear() {
	for i, r := range p.ranks {
		for o := r.News(); o != nil; o = r.News() {
			if o.WaveComplete != nil {
				p.said = append(p.said, fmt.Sprintf("%d completes %d", i, *o.WaveComplete))
			} else {
				p.said = append(p.said, fmt.Sprintf("%d starts %d", i, *o.StartWave))
			}
		}
	}
}

// step lets both take as many steps as they can, and returns how many they took
// together. One that waits for the other at the end is left waiting.
func (p *pair) step() (n int) {
	for {
		for _, r := range p.ranks {
			if r.Met() == nil {
				r.Step(0)
			}
		}
		if p.waits(0) != p.waits(1) || !p.waits(0) {
			return n
		}
		n++
		for i, r := range p.ranks {
			<-r.Met()
			if r.Took() != 2*time.Second {
				p.Errorf("rank %d: the step takes %v, want 2 s, as that of the slowest", i, r.Took())
			}
			r.End()
		}
		p.hear()
	}
}

func (p *pair) waits(rank int) bool { return p.ranks[rank].Met() != nil }

// want compares what was said since the last time.
func (p *pair) want(said ...string) {
	p.Helper()
	if !slices.Equal(p.said, said) {
		p.Errorf("said %q, want %q", p.said, said)
	}
	p.said = nil
}

func TestWaveOfARequestThatItsClientTellsOf(t *testing.T) {
	p := newPair(t, "0.32.0")
	p.add(1, 0, 3)
	if n := p.step(); n > 0 || !p.waits(1) || p.waits(0) {
		t.Fatalf("%d steps; want rank 1 to wait for rank 0", n)
	}
	p.want()
	p.ranks[0].StartWave(0, codec.ExcludeRank(1))
	if n := p.step(); n != 3 {
		t.Errorf("%d steps, want one a token", n)
	}
	p.want("0 starts 0", "0 completes 0")
	if l := p.ranks[1].Load(); l != (codec.Load{Wave: 1}) {
		t.Errorf("at rest %+v", l)
	}
}

func TestWaveOfARequestThatTheEngineTellsOf(t *testing.T) {
	p := newPair(t, "0.33.0")
	p.add(1, 0, 3)
	p.add(1, 0, 3)
	p.want("1 starts 0")
	p.ranks[0].StartWave(0, codec.ExcludeRank(1))
	if n := p.step(); n != 3 {
		t.Errorf("%d steps, want one a token", n)
	}
	p.want("0 starts 0", "0 completes 0")
}

func TestRequestsOfOtherWaves(t *testing.T) {
	for _, c := range []struct {
		name, release string
		wave          int // of a request at rank 1, which is in wave 2
		says          string
		after         int // rank 1's wave
	}{
		{"one of a wave that is over wakes the others", "0.32.0", 1, "1 starts 2", 2},
		{"one of this wave does not, it is the client's", "0.32.0", 2, "", 2},
		{"nor does one of a newer wave, which is taken over", "0.32.0", 5, "", 5},
		{"since 0.33.0 each one does: over", "0.33.0", 1, "1 starts 2", 2},
		{"since 0.33.0 each one does: present", "0.33.0", 2, "1 starts 2", 2},
		{"since 0.33.0 each one does: newer", "0.33.0", 5, "1 starts 5", 5},
		{"without a coordinator none counts: over", "", 1, "", 2},
		{"without a coordinator none counts: newer", "", 5, "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, c.release)
			for range 2 { // waves 0 and 1
				for _, r := range p.ranks {
					r.StartWave(0, codec.Exclude{})
					r.StartWave(1, codec.Exclude{})
				}
				p.step()
			}
			p.said = nil
			if l := p.ranks[1].Load(); l.Wave != 2 {
				t.Fatalf("in wave %d", l.Wave)
			}
			p.add(1, c.wave, 1)
			if got := fmt.Sprint(p.said); got != "["+c.says+"]" {
				t.Errorf("said %v, want %q", got, c.says)
			}
			if l := p.ranks[1].Load(); l.Wave != c.after {
				t.Errorf("in wave %d, want %d", l.Wave, c.after)
			}
		})
	}
}

func TestWakes(t *testing.T) {
	for _, c := range []struct {
		name    string
		wave    int // rank 1 is in wave 1
		exclude codec.Exclude
		hears   bool
	}{
		{"one of this wave", 1, codec.ExcludeRank(0), true},
		{"one of a newer wave", 7, codec.Exclude{}, true},
		{"none of a wave that is over", 0, codec.Exclude{}, false},
		{"none that leaves it out by number", 1, codec.ExcludeRank(1), false},
		{"one that names its identity, which leaves nobody out", 1, codec.Exclude{Set: true, Rank: 1, Identity: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, "0.32.0")
			for _, r := range p.ranks {
				r.StartWave(0, codec.Exclude{})
			}
			p.step()
			p.ranks[1].StartWave(c.wave, c.exclude)
			if p.step(); p.waits(1) != c.hears {
				t.Errorf("it runs: %v", p.waits(1))
			}
			if l := p.ranks[1].Load(); c.hears && l.Wave != c.wave {
				t.Errorf("in wave %d, want %d", l.Wave, c.wave)
			}
		})
	}
}

// A first request that names its engine by number has it left out of the wake. If
// the request came to nothing there, that rank sleeps and the others wait for it.
// vLLM's client names the identity, which wakes all.
func TestARankThatIsLeftOutMustHaveWork(t *testing.T) {
	for name, whole := range map[string]bool{"by number": false, "by identity": true} {
		for what, q := range map[string]add{"refused": {tokens: 1, refused: true}, "taken back": {tokens: 1}} {
			t.Run(what+" "+name, func(t *testing.T) {
				w := newWorld("0.32.0", 2, 1, 0)
				w.submit(0, 1, q, whole)
				if !q.refused {
					w.abort(0, 1)
				}
				if err := w.settle(); (err == nil) != whole {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

func TestRanksLookForWorkNowAndThen(t *testing.T) {
	ranks := engine.NewLockstep(0, &engine.Sim{}, &engine.Sim{})
	p := &pair{T: t, ranks: ranks}
	steps := func(tokens int) (n int) {
		p.add(0, 0, tokens)
		ranks[1].StartWave(ranks[1].Load().Wave, codec.Exclude{})
		for ; ; n++ {
			ranks[0].Step(0)
			ranks[1].Step(0)
			if ranks[0].Met() == nil {
				return n
			}
			want := time.Duration(0)
			if n >= tokens {
				want = time.Millisecond // nobody did anything
			}
			for _, r := range ranks {
				<-r.Met()
				if r.Took() != want {
					t.Errorf("step %d takes %v, want %v", n, r.Took(), want)
				}
				r.End()
			}
		}
	}
	for tokens, want := range map[int]int{1: 1, 2: 16, 16: 16, 17: 32} {
		if n := steps(tokens); n != want {
			t.Errorf("%d tokens: %d steps, want %d", tokens, n, want)
		}
	}
}
