// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
)

// answer is what a slot learns of one request. A slot uses its own again and again.
type answer struct {
	id     string
	rank   int // -1 when no engine was chosen
	tokens int
	first  time.Duration // from before Submit to the first token
	whole  time.Duration // from before Submit to the end
	gaps   []gap
	added  []time.Duration // from the receipt of each output to the reader's hands
	end    end
	err    error
}

// gap is the wait for one output after the first.
type gap struct {
	each   time.Duration // the wait divided by the output's tokens
	tokens int
}

// end is how a request ended.
type end uint8

const (
	endStopped end = iota // with the run's context; counts for nothing
	endDone
	endAborted
	endFailed
)

// slot is one of the requests that are live at a time: one goroutine.
type slot struct {
	*loop
	answer
	stream atomic.Pointer[pipeline.Stream] // the live one
}

// stop ends the wait for what a request gives, once the run's context has ended. To
// have each stream watch that would cost each its registration.
func (s *slot) stop() {
	if stream := s.stream.Load(); stream != nil {
		stream.Close()
	}
}

// run takes requests from the loop until there are no more.
func (s *slot) run(ctx context.Context, r *recorder) {
	calm := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		i := int(s.next.Add(1)) - 1
		if i >= s.requests {
			return
		}
		if s.one(ctx, calm, i); s.end != endStopped {
			r.add(&s.answer)
			s.ended.Add(1)
		}
	}
}

// one does the i-th request. calm is ctx without its end.
func (s *slot) one(ctx, calm context.Context, i int) {
	r := s.source.request(i)
	s.answer = answer{id: r.ID, rank: -1, gaps: s.gaps[:0], added: s.added[:0]}
	began := time.Now()
	// A slot that is stopped closes its stream, which makes the room that a Submit may
	// wait for.
	stream, err := s.on.Submit(calm, r)
	if err != nil {
		s.end, s.err = endFailed, err
		return
	}
	s.submitted(i)
	s.stream.Store(stream)
	if ctx.Err() != nil {
		s.stop() // which came before there was a stream
	}
	s.read(calm, stream, r, began, s.aborts(i))
	s.stream.Store(nil)
	s.rank = stream.Rank()
	if s.end != endDone {
		stream.Close() // what the engine still does with it is of no use
	}
	if s.end == endFailed && ctx.Err() != nil {
		s.end = endStopped // the failure may be a part of stopping
	}
}

// read takes outputs to the end, or to the first token of a request to be aborted.
func (s *slot) read(calm context.Context, stream *pipeline.Stream, r *codec.Request, began time.Time, abort bool) {
	last, want := began, formula{}
	if s.verify {
		want = newFormula(r, s.vocab)
	}
	for {
		out, err := stream.Next(calm)
		if err != nil {
			s.over(err)
			return
		}
		if n := len(out.Tokens); n > 0 {
			if s.received != nil {
				s.added = append(s.added, time.Since(s.received(stream.Rank())))
			}
			if s.noITL && s.tokens > 0 && out.Finish == codec.FinishNone {
				s.tokens += n
			} else {
				now := time.Now()
				s.note(now.Sub(last), n)
				last, s.whole = now, now.Sub(began)
			}
			if s.verify {
				if err := want.check(out.Tokens); err != nil {
					s.end, s.err = endFailed, err
					return
				}
			}
		}
		switch {
		case out.Err != nil:
			s.end, s.err = endFailed, out.Err
			return
		case abort && out.Finish == codec.FinishNone && s.tokens > 0:
			s.end = endAborted
			return
		}
	}
}

// note takes n tokens that came wait after what was before them.
func (s *slot) note(wait time.Duration, n int) {
	if s.tokens == 0 {
		s.first = wait
	} else if !s.noITL {
		s.gaps = append(s.gaps, gap{wait / time.Duration(n), n})
	}
	s.tokens += n
}

// over takes the error that ended the stream.
func (s *slot) over(err error) {
	switch {
	case !errors.Is(err, io.EOF):
		s.end, s.err = endFailed, err
	case s.tokens != s.output:
		s.end, s.err = endFailed, fmt.Errorf("load: request %s ended after %d of %d tokens", s.id, s.tokens, s.output)
	default:
		s.end = endDone
	}
}
