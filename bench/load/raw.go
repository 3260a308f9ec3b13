// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"iter"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
)

// Feed is what RunRaw puts its load on. *pipeline.Client is one. All is called by
// one goroutine. One that also has Engines() []pipeline.EngineInfo fills in
// Result.Engines.
type Feed interface {
	Outputs(ctx context.Context) iter.Seq2[pipeline.Step, error]
	Add(ctx context.Context, r *codec.Request) error
	Abort(ctx context.Context, ids ...string) error
}

// RunRaw is Run with one loop in place of a goroutine and a stream a request: it
// reads whole steps and adds the next request where one has ended, as vLLM's own
// client is used. Times are taken once a step, before its outputs are looked at.
// Messages are the steps that it saw. An error of the feed, such as the death of
// an engine, is that of all requests that have not ended by then: the feed does
// not tell which engine has a request that has given nothing yet.
func RunRaw(ctx context.Context, f Feed, c Config) (*Result, error) {
	return run(ctx, c, f, func(c Config) measurement { return measureRaw(ctx, f, c) })
}

// measureRaw runs one loop from start to end.
func measureRaw(ctx context.Context, f Feed, c Config) measurement {
	l := &rawLoop{
		loop: newLoop(c), feed: f, recorder: newRecorder(), flights: make([]flight, min(c.Concurrency, c.Requests)),
	}
	stop := l.report(c.Progress)
	used := used()
	l.began = time.Now()
	l.run(ctx)
	m := measurement{recorder: l.recorder, wall: time.Since(l.began), usage: used.since(), messages: l.steps, files: l.files}
	stop()
	return m
}

// rawLoop is one closed loop over the raw feed.
type rawLoop struct {
	*loop
	*recorder
	feed    Feed
	began   time.Time
	flights []flight // by slot; request n is in slot n modulo their number, so its id finds it
	sent    int
	live    int
	steps   int64
	wait    gap // of the rows before, not recorded yet: those of a step mostly wait alike
}

// run takes steps until all requests have ended, or ctx or the feed has.
func (l *rawLoop) run(ctx context.Context) {
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	steps := l.feed.Outputs(feeding)
	for i := range l.flights {
		l.flights[i].n = i
		l.add(ctx, &l.flights[i])
	}
	if l.live == 0 {
		stop() // all were refused, so nothing will come; the feed is to be given up all the same
	}
	for step, err := range steps {
		if err != nil {
			l.end(ctx, err)
			return
		}
		if l.step(ctx, step); l.live == 0 {
			return
		}
	}
}

// add puts requests into a slot until one is taken or there are no more.
func (l *rawLoop) add(ctx context.Context, f *flight) {
	for f.live = false; !f.live && l.sent < l.requests && ctx.Err() == nil; f.n += len(l.flights) {
		r := l.source.request(f.n)
		f.abort = l.aborts(l.sent)
		f.answer = answer{id: r.ID, rank: -1}
		if l.verify {
			f.want = newFormula(r, l.vocab)
		}
		l.sent++
		f.began = time.Since(l.began)
		if err := l.feed.Add(ctx, r); err != nil && ctx.Err() == nil {
			l.over(f, endFailed, err)
		} else if err == nil {
			l.submitted(l.sent - 1)
			f.live = true
			l.live++
			return // with n as it is
		}
	}
}

// step takes what an engine told in a step.
func (l *rawLoop) step(ctx context.Context, s pipeline.Step) {
	now := time.Since(l.began)
	if l.received != nil && len(s.Outputs.Rows) > 0 {
		record(l.added, time.Since(l.received(s.Rank)), len(s.Outputs.Rows))
	}
	l.steps++
	for i := range s.Outputs.Rows {
		row := &s.Outputs.Rows[i]
		f := l.of(row.ID)
		if f == nil {
			continue // of an aborted one
		}
		f.answer.rank = s.Rank
		if end, err := l.row(f, row, now); end != endStopped {
			if end == endAborted {
				_ = l.feed.Abort(ctx, f.answer.id) // of one that lives there is nothing to say
			}
			l.live--
			l.over(f, end, err)
			f.n += len(l.flights)
			l.add(ctx, f)
		}
	}
	l.flush()
}

// over records the end of a request.
func (l *rawLoop) over(f *flight, how end, err error) {
	f.live = false
	f.answer.end, f.answer.err = how, err
	l.recorder.add(&f.answer)
	l.ended.Add(1)
}

// end takes the error that ended the feed, or the loop's part of it: what lives is
// aborted, and all that is left has failed, unless the loop was to stop.
func (l *rawLoop) end(ctx context.Context, err error) {
	var ids []string
	for i := range l.flights {
		if f := &l.flights[i]; f.live {
			ids = append(ids, f.answer.id)
			if ctx.Err() == nil {
				l.over(f, endFailed, err)
			}
		}
	}
	_ = l.feed.Abort(context.WithoutCancel(ctx), ids...)
	for ; ctx.Err() == nil && l.sent < l.requests; l.sent++ {
		l.over(&flight{answer: answer{id: l.source.prefix, rank: -1}}, endFailed, err)
	}
}
