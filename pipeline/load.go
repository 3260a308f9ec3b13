// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/policy"
)

// snapshot appends the load of all ready engines to all, and of those that have
// reported since the last snapshot to fresh. One that peeks is not the last.
func (t *Table) snapshot(all, fresh []policy.Engine, now time.Time, peeking bool) (a, f []policy.Engine) {
	for _, e := range t.engines {
		e.mu.Lock()
		if e.state != EngineReady {
			e.mu.Unlock()
			continue
		}
		p := policy.Engine{Rank: e.rank, Index: e.index, InFlight: len(e.live), Age: now.Sub(e.loadAt)}
		if p.Stale = p.Age > t.config.StaleAfter; !p.Stale {
			p.Waiting, p.Running, p.KVUsage = e.load.Waiting, e.load.Running, e.load.KVUsage
		}
		reported := e.reported
		e.reported = reported && peeking
		e.mu.Unlock()
		all = append(all, p)
		if reported {
			fresh = append(fresh, p)
		}
	}
	return all, fresh
}

// Report replaces the load of the managed engines by what a coordinator
// publishes: a row for each rank from 0 on. Rows of ranks that are not managed
// are ignored, and an engine beyond the rows keeps what it has: the report may be
// from before a change of their number.
func (t *Table) Report(rows []codec.CountsRow) {
	now := time.Now()
	for _, e := range t.engines {
		if e.rank >= len(rows) {
			continue
		}
		row := rows[e.rank]
		e.mu.Lock()
		e.load = codec.Load{Waiting: row.Waiting, Running: row.Running, KVUsage: row.KVUsage}
		e.loadAt, e.reported = now, true
		e.mu.Unlock()
	}
}

// pinned is the engine of a pin.
func (t *Table) pinned(pin int) (*engine, error) {
	if pin < 0 || pin >= len(t.engines) {
		ranks := make([]int, len(t.engines))
		for i, e := range t.engines {
			ranks[i] = e.rank
		}
		return nil, &PinError{Pin: pin, Ranks: ranks}
	}
	e := t.engines[pin]
	e.mu.Lock()
	defer e.mu.Unlock()
	switch e.state {
	case EngineReady:
		return e, nil
	case EngineDead:
		return nil, e.err
	default:
		return nil, &EngineError{e.rank, "route", ErrNoEngine}
	}
}

// room is how many tokens r may generate, as vLLM's front end fills in a missing
// max_tokens: what the model's length leaves. It is 0 when that is not known or
// the prompt leaves nothing.
func (t *Table) room(r *codec.Request) int {
	return max(int(t.limit.Load())-r.PromptLen(), 0)
}
