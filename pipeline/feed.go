// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/corepipe/corepipe/codec"
)

// Step is what one engine told this client in one step.
type Step struct {
	Rank int
	// Outputs is read-only, and valid up to the loop's next turn: to keep the rows is to
	// copy them (slices.Clone). What a row holds stays as it is.
	Outputs *codec.Outputs
}

// MaxUnread is how many steps may wait for the reader of Client.Outputs.
const MaxUnread = 4096

// ErrBehind ends a raw feed whose reader has left MaxUnread steps unread, and
// ErrFeedTaken refuses a second one.
var (
	ErrBehind    = errors.New("pipeline: raw feed: the reader is too far behind")
	ErrFeedTaken = errors.New("pipeline: raw feed: there is one already")
)

// Outputs is the raw feed: whole steps of all engines, for those who dispatch
// themselves (vLLM: AsyncMPClient.get_output_async). It begins with this call and
// is one loop's; a client has one at a time. In it are the messages that have
// outputs or scheduler statistics, also those of requests with a stream; replies
// to calls, waves and bare finished_requests are not.
//
// The death or restart of an engine comes once, as an *EngineError with its rank,
// and so does a request of Add that fails on its way, as a *RequestError; the feed
// goes on. Any other error is the last thing: ErrFeedTaken, ErrBehind
// (dispatch never waits for a reader), ctx's cause, or how the client ended.
func (c *Client) Outputs(ctx context.Context) iter.Seq2[Step, error] {
	f := &feed{kick: make(chan struct{}, 1)}
	if !c.table.feed.CompareAndSwap(nil, f) {
		f.end(ErrFeedTaken)
	} else if err := c.table.failed(); err != nil {
		f.end(err)
	}
	unwatch := context.AfterFunc(ctx, func() { f.end(context.Cause(ctx)) })
	return func(yield func(Step, error) bool) {
		defer unwatch()
		defer c.table.feed.CompareAndSwap(f, nil)
		for {
			steps, err := f.take()
			for _, s := range steps {
				more := yield(s.Step, s.err)
				c.table.parcels.give(s.lent)
				if !more {
					return
				}
			}
			switch {
			case err != nil:
				yield(Step{Rank: -1}, err)
				return
			case len(steps) == 0:
				<-f.kick
			}
		}
	}
}

// Add is Submit without a stream: the outputs of r come in the raw feed alone. It
// is live, for Engines, the policy and Close, until the feed has its last output,
// or an Abort. ctx bounds the wait for room.
func (c *Client) Add(ctx context.Context, r *codec.Request) error {
	_, err := c.submit(ctx, r, true)
	return err
}

// feed is what waits for the reader of Outputs.
type feed struct {
	kick chan struct{} // one slot: something was put since take

	mu    sync.Mutex
	steps []fed
	spare []fed // the reader's of before
	err   error // the last thing
}

// fed is a step, or the end of an engine or a request.
type fed struct {
	Step
	err  error
	lent lent // what Outputs is in
}

// put adds a step, and is false when the feed has ended.
func (f *feed) put(s fed) (taken bool) {
	f.mu.Lock()
	switch {
	case f.err != nil:
	case len(f.steps) >= MaxUnread:
		f.err = ErrBehind
	default:
		f.steps, taken = append(f.steps, s), true
	}
	f.mu.Unlock()
	f.wake()
	return taken
}

// end makes err the last thing, after what has been put.
func (f *feed) end(err error) {
	f.mu.Lock()
	if f.err == nil {
		f.err = err
	}
	f.mu.Unlock()
	f.wake()
}

func (f *feed) wake() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// take is all that waits, or, when nothing does, the last thing. The slice is the
// reader's until the next call.
func (f *feed) take() ([]fed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	steps := f.steps
	clear(f.spare)
	f.steps, f.spare = f.spare[:0], steps
	if len(steps) > 0 {
		return steps, nil
	}
	return nil, f.err
}

// feedStep puts a message that belongs there into the raw feed if there is one.
func (t *Table) feedStep(rank int, v Decoded) (taken bool) {
	f := t.feed.Load()
	return f != nil && f.put(fed{Step: Step{Rank: rank, Outputs: v.Outputs}, lent: v.lent})
}

// feedEnd tells the raw feed that an engine is gone, or a request has failed.
func (t *Table) feedEnd(rank int, err error) {
	if f := t.feed.Load(); f != nil {
		f.put(fed{Step: Step{Rank: rank}, err: err})
	}
}

// failed is why nothing is admitted any more; nil while it is.
func (t *Table) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken
}
