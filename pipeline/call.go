// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/corepipe/corepipe/codec"
)

// Reply is one engine's answer to a utility call.
type Reply struct {
	Rank   int
	Result any // nil, bool, int64, uint64, float64, string, []byte, []any, map[string]any or map[any]any
	Err    error
}

// callFailure is a call that did not get its replies.
type callFailure struct {
	method string
	err    error
}

func (e *callFailure) Error() string { return "pipeline: call " + e.method + ": " + e.err.Error() }
func (e *callFailure) Unwrap() error { return e.err }

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
		return nil, &callFailure{method, ErrNoEngine}
	}
	calls := make([]*Call, 0, len(ranks))
	for _, rank := range ranks {
		c, err := t.newCall(rank, method, args)
		if err != nil {
			t.forget(calls)
			return nil, &callFailure{method, err}
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
			return replies[:i], &callFailure{method, context.Cause(ctx)}
		}
	}
	return replies, errors.Join(errs...)
}

func (t *Table) newCall(rank int, method string, args []any) (*Call, error) {
	e := t.ranks[rank]
	if e == nil {
		return nil, &EngineError{rank, "call", ErrNoEngine}
	}
	args, err := e.layout.Load().CallArgs(method, args)
	if err != nil {
		return nil, &EngineError{rank, "call", err}
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
		if r.Result, r.Err = u.Result(); r.Err != nil {
			r.Err = &EngineError{e.rank, c.Method, r.Err}
		}
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

// callsTo are the calls to rank that are under way.
func (t *Table) callsTo(rank int) (calls []*Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		if c.Rank == rank {
			calls = append(calls, c)
		}
	}
	return calls
}

// failCalls fails all calls.
func (t *Table) failCalls(err error) {
	t.mu.Lock()
	calls := slices.Collect(maps.Values(t.calls))
	t.mu.Unlock()
	for _, c := range calls {
		c.Fail(err)
	}
}
