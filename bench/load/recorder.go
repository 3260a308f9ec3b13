// SPDX-License-Identifier: Apache-2.0

package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// recorder collects what slots measure. Slots share a few recorders, about one a
// processor, and bring their numbers once a request: a histogram is 250 KB, too
// much to have three for each of hundreds of slots.
type recorder struct {
	mu             sync.Mutex
	ttft, itl, e2e *hdrhistogram.Histogram // ns
	added          *hdrhistogram.Histogram // ns
	done, failed   int
	aborted        int
	tokens         int64
	ranks          map[int]int // requests by engine
	errors         tally
}

// Latencies are kept from 1 ns to an hour with three digits.
const (
	longest = int64(time.Hour)
	digits  = 3
)

func newRecorder() *recorder {
	return &recorder{
		ttft:  hdrhistogram.New(1, longest, digits),
		itl:   hdrhistogram.New(1, longest, digits),
		e2e:   hdrhistogram.New(1, longest, digits),
		added: hdrhistogram.New(1, longest, digits),
		ranks: map[int]int{},
	}
}

// add takes one request that has ended.
func (r *recorder) add(a *answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tokens += int64(a.tokens)
	if a.rank >= 0 {
		r.ranks[a.rank]++
	}
	if a.tokens > 0 {
		record(r.ttft, a.first, 1)
	}
	for _, g := range a.gaps {
		record(r.itl, g.each, g.tokens)
	}
	for _, d := range a.added {
		record(r.added, d, 1)
	}
	switch a.end {
	case endDone:
		r.done++
		record(r.e2e, a.whole, 1)
	case endAborted:
		r.aborted++
	case endFailed:
		r.failed++
		r.errors.add(a.id, a.err)
	}
}

// record keeps what is out of range at the edge of it.
func record(h *hdrhistogram.Histogram, d time.Duration, n int) {
	_ = h.RecordValues(min(max(int64(d), 1), longest), int64(n)) // in range, so never fails
}

// merge adds what o has. Nobody else uses either.
func (r *recorder) merge(o *recorder) {
	r.ttft.Merge(o.ttft)
	r.itl.Merge(o.itl)
	r.e2e.Merge(o.e2e)
	r.added.Merge(o.added)
	r.done, r.failed, r.aborted = r.done+o.done, r.failed+o.failed, r.aborted+o.aborted
	r.tokens += o.tokens
	for rank, n := range o.ranks {
		r.ranks[rank] += n
	}
	r.errors.merge(&o.errors)
}

// millis and Micros convert from nanoseconds.
func millis(h *hdrhistogram.Histogram) Quantiles { return quantiles(h, 1e6) }

// Micros are the quantiles of h, which is in nanoseconds, in microseconds.
func Micros(h *hdrhistogram.Histogram) Quantiles { return quantiles(h, 1e3) }

func quantiles(h *hdrhistogram.Histogram, unit float64) Quantiles {
	q := func(percent float64) float64 { return float64(h.ValueAtPercentile(percent)) / unit }
	return Quantiles{P50: q(50), P90: q(90), P99: q(99)}
}
