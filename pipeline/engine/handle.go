// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/corepipe/corepipe/codec"
)

// handle takes one message. An error means that the group has ended.
func (l *loop) handle(ctx context.Context, m message) error {
	switch {
	case m.add != nil:
		return l.add(ctx, m.add)
	case m.call != nil:
		return l.call(ctx, m.call)
	case m.wave != nil:
		l.counters.Woken.Add(1)
		if l.waver != nil {
			l.waver.StartWave(m.wave.number, m.wave.exclude)
		}
	default:
		l.drop(m.abort)
	}
	return nil
}

var errClient = errors.New("client_index is that of no client")

// add gives a request to the core, or the answer that it cannot have.
func (l *loop) add(ctx context.Context, r *codec.Request) error {
	if r.ClientIndex < 0 || r.ClientIndex >= l.clients {
		l.skip(&SkippedError{Kind: codec.Add, ID: r.ID, Err: errClient})
		return nil
	}
	_, used := l.live[r.ID]
	switch {
	case used && !r.Resumable:
		l.counters.Duplicates.Add(1)
		return l.refuse(ctx, r)
	case unfit(r):
		return l.refuse(ctx, r)
	}
	l.counters.Requests.Add(1)
	l.core.Add(r)
	l.live[r.ID] = r.ClientIndex
	if r.AbortImmediately {
		l.core.Abort([]string{r.ID})
		l.forget(r.ID)
	}
	return nil
}

// unfit says of a request what vLLM answers with an error: it could be read, but
// there is nothing to do.
func unfit(r *codec.Request) bool {
	if r.Sampling == nil && r.Pooling == nil || r.Prompt == nil && r.PromptEmbeds == nil {
		return true
	}
	if r.Sampling != nil && r.Sampling.MaxTokens == codec.NoLimit {
		return true
	}
	return r.Prompt != nil && r.PromptEmbeds != nil &&
		(len(r.PromptEmbeds.Shape) == 0 || r.PromptEmbeds.Shape[0] != len(r.Prompt))
}

// refuse answers a request with an error.
func (l *loop) refuse(ctx context.Context, r *codec.Request) error {
	return l.finish(ctx, r.ClientIndex, codec.FinishError, r.ID)
}

// finish tells a client that requests have ended outside of a step.
func (l *loop) finish(ctx context.Context, client int, reason codec.FinishReason, ids ...string) error {
	o := &codec.Outputs{Finished: ids, Rows: make([]codec.Output, len(ids))}
	for i, id := range ids {
		o.Rows[i] = codec.Output{ID: []byte(id), Tokens: []uint32{}, Finish: reason}
	}
	return l.emit(ctx, result{client: client, outputs: o})
}

// drop ends requests that their client does not want any more.
func (l *loop) drop(ids []string) {
	if len(ids) == 0 {
		return
	}
	for _, id := range ids {
		if _, ok := l.live[id]; ok {
			l.counters.Aborted.Add(1)
			l.forget(id)
		}
	}
	l.core.Abort(ids)
}

// failure is vLLM's message.
func failure(method string, err error) string {
	return fmt.Sprintf("Call to %s method failed: %v", method, err)
}

// call answers a utility call.
func (l *loop) call(ctx context.Context, c *codec.UtilityCall) error {
	if c.ClientIndex < 0 || c.ClientIndex >= l.clients {
		l.skip(&SkippedError{Kind: codec.Utility, Err: fmt.Errorf("%s: %w", c.Method, errClient)})
		return nil
	}
	l.counters.Calls.Add(1)
	u := &codec.UtilityOutput{CallID: c.CallID}
	if l.closing {
		u.Failure = "Server shutting down"
	} else if v, err := l.core.Utility(c.Method, c.Args); err != nil {
		u.Failure = failure(c.Method, err)
	} else {
		u.SetResult(v)
	}
	return l.emit(ctx, result{client: c.ClientIndex, outputs: &codec.Outputs{Utility: u}, method: c.Method})
}
