// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/corepipe/corepipe/codec"
)

// DefaultSyncInterval is how many steps a lockstep group takes from one look for
// work that is left to the next. vLLM: dp_sync_interval.
const DefaultSyncInterval = 16

// NewLockstep makes the ranks of a mixture-of-experts model out of cores: the
// n-th is data-parallel rank n. A rank takes a step only together with all
// others, which takes as long as the slowest; one that has nothing to do takes a
// dummy step. They begin when one has work and the others are woken, by a
// coordinator or by the requests of their own, and go on until none has any: that
// is a wave. They look in the first step of a wave and in every interval-th
// (0: DefaultSyncInterval).
//
// Each rank is a Core of its own: give each to Serve, or all to Cores. A rank that
// died or was stopped never comes to another step, so the others wait for it until
// they are stopped, as GPUs hang in a collective. A client whose Config says
// Lockstep gives them up.
func NewLockstep(interval int, cores ...Core) []*Rank {
	if interval <= 0 {
		interval = DefaultSyncInterval
	}
	group := &allReduce{size: len(cores), interval: interval}
	ranks := make([]*Rank, len(cores))
	for i, core := range cores {
		r := &Rank{core: core, group: group, waves: waves{rank: i}, live: map[string]struct{}{}}
		r.mortal, _ = core.(Mortal)
		r.loader, _ = core.(Loader)
		r.dummy, _ = core.(Dummy)
		ranks[i] = r
	}
	return ranks
}

// Rank is one member of a lockstep group: a Core around another. Serve knows what
// to do with it. A simulation in virtual time calls Step of every rank that is not
// in a step; when Met says that all have come, the step takes Took, and at its
// end every rank's End is called. Requests, wakes and calls wait meanwhile; an
// Abort may come at any time. Each rank is for one goroutine at a time.
type Rank struct {
	core   Core
	mortal Mortal // nil when the core cannot die
	loader Loader // nil when it does not know its load
	dummy  Dummy  // nil when a dummy step takes no time
	group  *allReduce
	waves
	live  map[string]struct{} // unfinished requests
	round *round              // the step it is in
	looks bool                // for work, in that step
}

// Coordinate says, before the first Add, that there is a coordinator, and by
// whose release's rules the ranks wake each other: up to 0.32.0 a client tells of
// the first request of a wave, since 0.33.0 the rank that gets it.
func (r *Rank) Coordinate(release *codec.Layout) {
	r.coordinated, r.starts = true, !release.FirstRequest()
}

// Index is the data-parallel rank.
func (r *Rank) Index() int { return r.rank }

// StartWave is the coordinator's word that others run. vLLM: START_DP_WAVE.
func (r *Rank) StartWave(wave int, exclude codec.Exclude) { r.wake(wave, exclude) }

// Add implements Core.
func (r *Rank) Add(q *codec.Request) {
	r.live[q.ID] = struct{}{}
	r.request(q.CurrentWave)
	r.core.Add(q)
}

// Abort implements Core.
func (r *Rank) Abort(ids []string) {
	for _, id := range ids {
		delete(r.live, id)
	}
	r.core.Abort(ids)
}

// Step implements Core. Unless Met is nil afterwards, the step is begun and ends
// with End, even if it has no outputs.
func (r *Rank) Step(now time.Duration) (*codec.Outputs, time.Duration) {
	if !r.running && (r.paused || len(r.live) == 0) {
		return nil, 0
	}
	o, took := r.core.Step(now)
	if r.dead() {
		return nil, 0
	}
	v := vote{took: took, busy: o != nil || took > 0, pausing: r.pausing}
	if o != nil {
		for i := range o.Rows {
			if o.Rows[i].Finish != codec.FinishNone {
				delete(r.live, string(o.Rows[i].ID))
			}
		}
	}
	if v.unfinished = len(r.live) > 0; r.pausing || r.paused {
		v.unfinished = v.unfinished && v.busy // what the pause holds up is not waited for
	}
	if !v.busy && r.dummy != nil {
		v.took = r.dummy.DummyStep()
	}
	r.looks = r.begin(r.group.interval)
	r.round = r.group.join(v)
	return o, v.took
}

// Met is closed when all ranks take the step that this one is in; nil when it is
// in none.
func (r *Rank) Met() <-chan struct{} {
	if r.round == nil {
		return nil
	}
	return r.round.met
}

// Took is how long the step takes, once Met is closed.
func (r *Rank) Took() time.Duration { return r.round.took }

// End ends the step, once Met is closed.
func (r *Rank) End() {
	m := r.round
	r.round = nil
	n := r.group.size
	r.end(!r.looks || m.unfinished || m.pausing%n != 0, r.looks && m.pausing == n)
}

// News is the next thing to be told to the coordinator, or without one to the
// rank's own client: that a wave has ended or begun. nil when there is none.
func (r *Rank) News() *codec.Outputs {
	if len(r.news) == 0 {
		return nil
	}
	n := r.news[0]
	r.news = r.news[1:]
	if n.complete {
		return &codec.Outputs{WaveComplete: &n.wave}
	}
	return &codec.Outputs{StartWave: &n.wave}
}
