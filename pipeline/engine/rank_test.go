// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
)

func (p *pair) call(rank int, method string, args ...any) {
	p.Helper()
	_, err := p.ranks[rank].Utility(method, args)
	must(p.T, err)
}

func TestAPauseIsOneOfTheGroup(t *testing.T) {
	p := newPair(t, "0.32.0")
	p.call(1, "pause_scheduler", "keep")
	if p.step(); !p.waits(1) {
		t.Fatal("the rank that was told does not wait for the other")
	}
	p.call(0, "pause_scheduler", "keep")
	if n := p.step(); n != 1 || p.waits(0) || p.waits(1) {
		t.Fatalf("%d steps, want one and rest", n)
	}
	p.want("0 completes 0")

	p.ranks[0].StartWave(1, codec.Exclude{})
	p.add(0, 0, 2) // of a wave that is over
	if n := p.step(); n > 0 || p.waits(0) {
		t.Fatalf("%d steps: a paused rank wakes", n)
	}
	p.want()

	p.call(0, "resume_scheduler")
	if p.step(); !p.waits(0) || p.waits(1) {
		t.Fatal("the first that resumes does not wait for the other")
	}
	p.call(1, "resume_scheduler")
	if n := p.step(); n != 2 {
		t.Errorf("%d steps, want 2 for the request that waited", n)
	}
	p.want("0 starts 1", "0 completes 1")
}

func TestAPauseLetsRequestsEnd(t *testing.T) {
	p := newPair(t, "0.32.0")
	p.add(1, 0, 4)
	p.ranks[0].StartWave(0, codec.Exclude{})
	p.ranks[0].Step(0)
	p.ranks[1].Step(0)
	for _, r := range p.ranks {
		r.End()
	}
	p.call(0, "pause_scheduler", "wait")
	p.call(1, "pause_scheduler", "wait")
	p.add(1, 0, 4) // waits
	if n := p.step(); n != 4 || p.waits(1) {
		t.Errorf("%d steps, want the 3 that were left and one that shows that nothing is", n)
	}
	if l := p.ranks[1].Load(); l.Waiting != 1 || l.Wave != 1 {
		t.Errorf("at rest %+v", l)
	}
}

func TestAPauseOfOneRankGoesOnUntilTheOtherIsToldToo(t *testing.T) {
	p := newPair(t, "0.32.0")
	p.call(0, "pause_scheduler", "keep")
	p.ranks[1].StartWave(0, codec.Exclude{})
	for range 3 {
		for _, r := range p.ranks {
			r.Step(0)
		}
		for _, r := range p.ranks {
			<-r.Met()
			r.End()
		}
		p.hear()
	}
	p.want() // neither an end nor, as for a request, a beginning
	p.call(1, "pause_scheduler", "keep")
	if n := p.step(); n != 1 {
		t.Errorf("%d steps, want 1", n)
	}
	p.want("0 completes 0")
}

func TestWithoutACoordinatorEachRankTellsTheEnd(t *testing.T) {
	p := newPair(t, "")
	p.add(0, 0, 2)
	p.add(1, 0, 3)
	if n := p.step(); n != 3 {
		t.Errorf("%d steps, want 3", n)
	}
	p.want("0 completes 0", "1 completes 0")
}

func TestARankThatDiesIsNotInTheStep(t *testing.T) {
	ranks := engine.NewLockstep(1, &engine.Sim{}, &engine.Sim{Script: script(engine.Outcome{Die: true})})
	p := &pair{T: t, ranks: ranks}
	p.add(0, 0, 1)
	p.add(1, 0, 1)
	if n := p.step(); n > 0 || !p.waits(0) || p.waits(1) {
		t.Errorf("%d steps; rank 0 waits: %v, rank 1: %v", n, p.waits(0), p.waits(1))
	}
	if err, _ := ranks[1].Dead(); err == nil {
		t.Error("it lives")
	}
}

func TestAPauseThatIsTakenBack(t *testing.T) {
	p := newPair(t, "0.32.0")
	for _, r := range []int{0, 1} {
		p.call(r, "pause_scheduler", "keep")
		p.call(r, "resume_scheduler")
	}
	p.add(1, 0, 3)
	if n := p.step(); n != 3 || p.waits(0) || p.waits(1) {
		t.Errorf("%d steps, want 3 and rest", n)
	}
	p.call(1, "resume_scheduler") // nothing to resume: it must not wait for the other
	if p.step(); p.waits(1) {
		t.Error("it waits")
	}
}

func TestARankSaysWhatItIs(t *testing.T) {
	ranks := engine.NewLockstep(0, &engine.Sim{MaxBatch: 7}, &engine.Sim{}, struct{ engine.Core }{&engine.Sim{}})
	if r := ranks[0].Ready(); r.MaxNumSeqs != 7 || r.DataParallelSize != 3 || r.DataParallelRank != 0 {
		t.Errorf("got %+v", r)
	}
	ranks[2].Add(generate("a", 1))
	if l := ranks[2].Load(); ranks[2].Index() != 2 || l.Running != 1 {
		t.Errorf("rank %d has %+v", ranks[2].Index(), l)
	}
	ranks[2].Abort([]string{"a", "b"})
	if l := ranks[2].Load(); l.Running != 0 {
		t.Errorf("after the abort %+v", l)
	}
	if o, took := ranks[2].Step(0); o != nil || took > 0 || ranks[2].Met() != nil {
		t.Error("a rank without work takes a step")
	}
	if _, err := ranks[2].Utility("nope", nil); err == nil {
		t.Error("a method that is none answers")
	}
}
