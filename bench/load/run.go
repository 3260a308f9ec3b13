// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/corepipe/corepipe/pipeline"
)

// loop is one closed loop. Slots share it.
type loop struct {
	on       Submitter
	source   *source
	requests int
	abort    int
	output   int // tokens a request
	vocab    int
	verify   bool
	noITL    bool
	received func(rank int) time.Time // nil unless added latency is measured
	next     atomic.Int64             // the request to be taken next
	ended    atomic.Int64
	files    int // written by the slot of the last request
}

// newLoop is one for either way of reading.
func newLoop(c Config) *loop {
	return &loop{
		source: newSource(c), requests: c.Requests, abort: c.Abort,
		output: c.OutputTokens, vocab: c.Vocab, verify: c.Verify, noITL: c.NoITL, received: c.Received,
	}
}

// aborts spreads the aborted requests evenly over all.
func (l *loop) aborts(i int) bool {
	return i*l.abort/l.requests != (i+1)*l.abort/l.requests
}

// Run puts the load on s and returns what it measured, which is all that has
// ended when ctx ends early; streams that are live then are closed. Requests
// that fail are counted, and no error of Run's. The error is that of a Config
// that cannot be used.
func Run(ctx context.Context, s Submitter, c Config) (*Result, error) {
	return run(ctx, c, s, func(c Config) measurement { return measure(ctx, s, c) })
}

// run warms up and measures the loop that measure runs over on.
func run(ctx context.Context, c Config, on any, measure func(c Config) measurement) (*Result, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.Warmup > 0 {
		w := c
		w.Requests, w.Abort, w.Progress, w.Prefix = c.Warmup, 0, nil, c.Prefix+"-warm"
		measure(w)
	}
	m := measure(c)
	r := m.result(c)
	r.Interrupted = ctx.Err() != nil
	r.Engines = engines(on, m.ranks)
	return r, nil
}

// measurement is what one loop gave.
type measurement struct {
	*recorder
	usage
	wall     time.Duration
	messages int64
	files    int
}

// measure runs one loop from start to end.
func measure(ctx context.Context, s Submitter, c Config) measurement {
	l := newLoop(c)
	l.on = s
	recorders := make([]*recorder, min(runtime.GOMAXPROCS(0), c.Concurrency))
	for i := range recorders {
		recorders[i] = newRecorder()
	}
	stop := l.report(c.Progress)
	messages, used, began := messages(s), used(), time.Now()
	slots := make([]slot, min(c.Concurrency, c.Requests))
	unwatch := context.AfterFunc(ctx, func() {
		for i := range slots {
			slots[i].stop()
		}
	})
	var running sync.WaitGroup
	for i := range slots {
		slots[i].loop = l
		running.Go(func() { slots[i].run(ctx, recorders[i%len(recorders)]) })
	}
	running.Wait()
	unwatch()
	m := measurement{recorder: recorders[0], wall: time.Since(began), usage: used.since(), files: l.files}
	if messages >= 0 {
		m.messages = s.(interface{ Messages() int64 }).Messages() - messages
	}
	stop()
	for _, r := range recorders[1:] {
		m.merge(r)
	}
	return m
}

// report calls f until the function it returns is called, and then once more.
func (l *loop) report(f func(ended int)) (stop func()) {
	if f == nil {
		return func() {}
	}
	done, over := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop, which waits for it
		defer close(over)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				f(int(l.ended.Load()))
			case <-done:
				f(int(l.ended.Load()))
				return
			}
		}
	}()
	return func() { close(done); <-over }
}

// messages is what s has received so far; -1 when it does not tell.
func messages(s Submitter) int64 {
	if m, ok := s.(interface{ Messages() int64 }); ok {
		return m.Messages()
	}
	return -1
}

// engines joins what s tells of its engines with the requests that they had.
func engines(s any, ranks map[int]int) []Engine {
	list := []Engine{}
	if e, ok := s.(interface{ Engines() []pipeline.EngineInfo }); ok {
		for _, i := range e.Engines() {
			list = append(list, Engine{
				Rank: i.Rank, Requests: ranks[i.Rank], Version: version(i),
				Running: i.Load.Running, Waiting: i.Load.Waiting,
			})
		}
	}
	return list
}

// version prefers what the engine says to what the user says of it.
func version(i pipeline.EngineInfo) string {
	if i.Ready != nil && i.Ready.Version != "" {
		return i.Ready.Version
	}
	return i.Release
}
