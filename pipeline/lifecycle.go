// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"fmt"

	"github.com/corepipe/corepipe/codec"
)

// Ready notes that an engine can be used: its ready message, or nil for an empty
// one, as of releases before 0.20.0. For a rank that was in use this is a restart: what the old
// engine had ends with ErrEngineRestarted.
func (t *Table) Ready(rank int, r *codec.Ready) error {
	e := t.ranks[rank]
	if e == nil {
		t.counts.strangers.Add(1)
		return &EngineError{rank, "ready", ErrNoEngine}
	}
	l, release, err := t.layoutFor(r)
	if err != nil {
		return &EngineError{rank, "ready", err}
	}
	t.join(e, r, l, release)
	return nil
}

// join takes e into use: it speaks l and is of the given release.
func (t *Table) join(e *engine, r *codec.Ready, l *codec.Layout, release string) {
	rank := e.rank
	e.layout.Store(l)
	restart := &EngineError{rank, "ready", ErrEngineRestarted}
	calls := t.callsTo(rank)
	from, lost := e.leave(EngineReady, nil)
	e.mu.Lock()
	e.ready, e.suspect = r, false
	e.release = release
	e.mu.Unlock()
	if from == EngineReady {
		// What was on its way to the old engine reaches the new one.
		t.queue.put(&Abort{streams: lost})
		t.lose(lost, calls, restart)
		t.gone(e)
		t.feedEnd(rank, restart)
	}
	t.settle()
	t.observeEngine(e.rank, from, EngineReady, nil)
}

// settle recomputes what depends on which engines are ready, and wakes who waits
// for them.
func (t *Table) settle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	limit := 0
	for _, e := range t.engines {
		if r := e.info().Ready; r != nil && (limit == 0 || r.MaxModelLen < limit) {
			limit = r.MaxModelLen
		}
	}
	t.spoken.Store(new(t.countSpoken()))
	t.limit.Store(int64(limit))
	t.notify()
}

// layoutAt is the layout of what arrives on the output socket of rank, or of all
// engines with -1.
func (t *Table) layoutAt(rank int) *codec.Layout {
	if e := t.ranks[rank]; e != nil {
		return e.layout.Load()
	}
	return (*t.spoken.Load())[0]
}

// died takes the end of rank, announced or concluded. With -1 an engine that
// shares its output address said it and did not say who: all are suspects until
// they speak again or turn out to be gone.
func (t *Table) died(rank int, cause error) {
	if len(t.engines) == 1 {
		rank = t.engines[0].rank
	}
	if e := t.ranks[rank]; e != nil {
		t.kill(e, e.now(), "receive", cause)
		return
	}
	for _, e := range t.engines {
		e.mu.Lock()
		e.suspect = true
		e.mu.Unlock()
		t.queue.put(&Abort{probe: e})
	}
}

// unreachable takes a transport's word that an engine is gone. One that was
// never there is not dead; only the command fails.
func (t *Table) unreachable(r Routed, err error) {
	if e := r.engine; e.is(EngineReady) {
		t.kill(e, r.epoch, "send", err)
	}
	r.Fail(&opError{"send", &EngineError{r.Rank, "send", err}})
}

// kill takes an engine out of use and ends what it had, and the whole group when
// the engines run in lockstep: the others hang without it. An engine that has
// become another since epoch is left alone.
func (t *Table) kill(e *engine, epoch uint64, op string, cause error) {
	if e.now() != epoch {
		return
	}
	err := &EngineError{e.rank, op, ErrEngineDead}
	if cause != nil {
		err.Err = fmt.Errorf("%w: %w", ErrEngineDead, cause)
	}
	for _, o := range t.engines {
		if o != e && !t.config.Lockstep || o.is(EngineDead) {
			continue
		}
		calls := t.callsTo(o.rank)
		from, lost := o.leave(EngineDead, err)
		t.lose(lost, calls, err)
		t.gone(o)
		t.feedEnd(o.rank, err)
		t.observeEngine(o.rank, from, EngineDead, err)
	}
	t.settle()
}

// lose ends streams and calls that went down with an engine.
func (t *Table) lose(lost []*Stream, calls []*Call, err error) {
	for _, s := range lost {
		if t.release(s) {
			s.end(err)
		}
	}
	for _, c := range calls {
		c.Fail(err)
	}
}

// breakDown ends everything for good; nothing is admitted any more.
func (t *Table) breakDown(err error) {
	t.refuse(err)
	for _, s := range t.all() {
		if t.release(s) {
			s.end(s.wrap(err))
		}
	}
	t.failCalls(err)
	if f := t.feed.Load(); f != nil {
		f.end(err)
	}
	t.queue.close()
}

// refuse makes Admit and new calls fail with err. The first one stays.
func (t *Table) refuse(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken == nil {
		t.broken = err
	}
	t.notify()
}

// malformed counts a message that could not be decoded.
func (t *Table) malformed(rank int, err error) {
	t.counts.malformed.Add(1)
	t.observeDecode(rank, err)
}
