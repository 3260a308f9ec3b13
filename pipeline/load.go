// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/policy"
)

// snapshot appends the load of all ready engines to all, and of those that have
// reported since the last snapshot to fresh.
func (t *Table) snapshot(all, fresh []policy.Engine) (a, f []policy.Engine) {
	now := time.Now()
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
		e.reported = false
		e.mu.Unlock()
		all = append(all, p)
		if reported {
			fresh = append(fresh, p)
		}
	}
	return all, fresh
}

// Report replaces the load of the managed engines, in managed order, as a
// coordinator publishes it. Rows for engines that are not there are ignored.
func (t *Table) Report(rows []codec.Load) {
	now := time.Now()
	for i, row := range rows[:min(len(rows), len(t.engines))] {
		e := t.engines[i]
		e.mu.Lock()
		e.load, e.loadAt, e.reported = row, now, true
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
