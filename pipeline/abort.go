// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"maps"
	"slices"

	"github.com/corepipe/corepipe/codec"
)

// abort ends the streams that still run, and tells their engines.
func (t *Table) abort(cause error, streams ...*Stream) {
	streams = slices.DeleteFunc(streams, func(s *Stream) bool { return !t.release(s) })
	if len(streams) == 0 {
		return
	}
	t.queue.add(&Abort{streams: streams}) // before a reader can use an id again
	for _, s := range streams {
		s.end(s.wrap(cause))
	}
	t.queue.push()
}

// streams are the live ones among ids.
func (t *Table) streams(ids []string) []*Stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*Stream, 0, len(ids))
	for _, id := range ids {
		if s := t.requests[id]; s != nil {
			out = append(out, s)
		}
	}
	return out
}

// all are the live streams.
func (t *Table) all() []*Stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.requests))
}

// Finish ends the accounting of requests that their engine has finished without
// an output. Unknown ids are ignored.
func (t *Table) Finish(ids ...string) { t.finish(t.streams(ids)) }

func (t *Table) finish(streams []*Stream) {
	for _, s := range streams {
		if t.release(s) {
			s.end(&FinishError{ID: s.id, Rank: s.Rank(), Reason: codec.FinishAbort})
		}
	}
}
