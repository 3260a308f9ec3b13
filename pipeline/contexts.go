// SPDX-License-Identifier: Apache-2.0

package pipeline

import "context"

// contexts are the two that a stream heeds, under Stream.mu: Submit's, whose end
// aborts the request, and that of the reader's last Next.
type contexts struct {
	unwatch  func() bool     // lets go of Submit's; nil when nothing watches
	unfollow func() bool     // lets go of the reader's; nil when nothing follows
	followed <-chan struct{} // the reader's Done
}

// forget lets go of both. It is called without Stream.mu, once the stream has ended.
func (c contexts) forget() {
	if c.unwatch != nil {
		c.unwatch()
	}
	if c.unfollow != nil {
		c.unfollow()
	}
}

// watch closes the stream when ctx ends. It comes after the Add is queued, so
// that the abort cannot overtake it.
func (s *Stream) watch(ctx context.Context) {
	if ctx.Done() == nil {
		return
	}
	s.mu.Lock()
	s.unwatch = context.AfterFunc(ctx, func() { s.table.abort(context.Cause(ctx), s) })
	if s.followed == nil {
		s.followed = ctx.Done() // the abort wakes a reader with the same one
	}
	unwatch, ended := s.unwatch, s.ended
	s.mu.Unlock()
	if ended {
		unwatch()
	}
}

// follow has the end of ctx wake the reader. A reader keeps to one context, so
// this registers once a stream, where a select would pay at every token, and on
// a channel that all streams share. The caller must look at the context after it:
// all that end before anybody asks for Done share one closed channel, so that the
// second of those is not told from the first. mu is held.
func (s *Stream) follow(ctx context.Context) {
	done := ctx.Done()
	if done == s.followed {
		return
	}
	if s.unfollow != nil {
		s.unfollow()
	}
	s.followed, s.unfollow = done, nil
	if done != nil {
		s.unfollow = context.AfterFunc(ctx, func() {
			s.mu.Lock()
			waits := s.wake()
			s.mu.Unlock()
			if waits {
				s.kick.Signal()
			}
		})
	}
}
