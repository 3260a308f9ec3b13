// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"

	"github.com/corepipe/corepipe/codec"
)

// Reply is one engine's answer to a utility call.
type Reply struct {
	Rank   int
	Result any // nil, bool, int64, uint64, float64, string, []byte, []any, map[string]any or map[any]any
	Err    error
}

// ErrFatalCall refuses a utility method that kills an engine without that feature.
var ErrFatalCall = errors.New("pipeline: call refused: an engine without fault tolerance dies of it (Config.FaultTolerance)")

// call sends one call to each rank, or to every engine that is not dead when
// there are none, and waits for the replies, in the order of the ranks.
func (t *Table) call(ctx context.Context, method string, args []any, ranks []int) ([]Reply, error) {
	if len(ranks) == 0 {
		for _, e := range t.engines {
			if !e.is(EngineDead) {
				ranks = append(ranks, e.rank)
			}
		}
	}
	if len(ranks) == 0 {
		return nil, ErrNoEngine
	}
	calls := make([]*Call, 0, len(ranks))
	for _, rank := range ranks {
		c, err := t.newCall(rank, method, args)
		if err != nil {
			t.forget(calls)
			return nil, err
		}
		calls = append(calls, c)
	}
	for _, c := range calls {
		t.queue.put(c)
	}
	replies := make([]Reply, len(calls))
	var errs []error
	for i, c := range calls {
		select {
		case replies[i] = <-c.done:
			errs = append(errs, replies[i].Err)
		case <-ctx.Done():
			t.forget(calls[i:])
			return nil, context.Cause(ctx)
		}
	}
	return replies, errors.Join(errs...)
}

func (t *Table) newCall(rank int, method string, args []any) (*Call, error) {
	if t.ranks[rank] == nil {
		return nil, &EngineError{rank, "call", ErrNoEngine}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken != nil {
		return nil, t.broken
	}
	t.nextCall++ // below 2^63 for as long as anybody lives
	c := &Call{
		Rank: rank, Method: method, Args: args, table: t,
		id: codec.CallID{N: t.nextCall}, done: make(chan Reply, 1),
	}
	t.calls[c.id] = c
	return c, nil
}

// reply hands r to the caller that waits for id, if one still does.
func (t *Table) reply(id codec.CallID, r Reply) bool {
	t.mu.Lock()
	c := t.calls[id]
	delete(t.calls, id)
	t.notify()
	t.mu.Unlock()
	if c != nil {
		c.done <- r // has room: the call was in the table, so this is its only reply
	}
	return c != nil
}

// replied takes an engine's answer.
func (t *Table) replied(e *engine, u *codec.UtilityOutput) {
	t.mu.Lock()
	c := t.calls[u.CallID]
	t.mu.Unlock()
	r := Reply{Rank: e.rank}
	switch {
	case c == nil:
	case u.Failed():
		r.Err = &CallError{Rank: e.rank, Method: c.Method, Message: u.Failure}
	default:
		r.Result, r.Err = u.Result()
	}
	if !t.reply(u.CallID, r) {
		t.counts.unknownCalls.Add(1)
	}
}

// forget drops calls that nobody waits for any more; late replies are counted.
func (t *Table) forget(calls []*Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range calls {
		delete(t.calls, c.id)
	}
	t.notify()
}

// failCalls fails the calls to rank, or all with -1.
func (t *Table) failCalls(rank int, err error) {
	t.mu.Lock()
	var lost []*Call
	for _, c := range t.calls {
		if rank < 0 || c.Rank == rank {
			lost = append(lost, c)
		}
	}
	t.mu.Unlock()
	for _, c := range lost {
		t.reply(c.id, Reply{Rank: c.Rank, Err: err})
	}
}
