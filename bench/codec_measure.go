// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/corepipe/corepipe/bench/load"
)

// trial is something that is done again and again, and what it took.
type trial struct {
	mode   string
	tokens int // in a message
	// do works on message i, counted on and on, and returns how long it is in bytes.
	do func(i int) (length int, err error)

	n       int // operations so far, unmeasured ones too
	batch   int // operations of a sample; 0 before the first round
	samples *hdrhistogram.Histogram
	rounds  []float64 // median of each, in ns an operation

	operations, bytes  int64
	took               time.Duration
	mallocs, allocated uint64
}

const (
	// A sample is as many operations as take so long, so that reading the clock, which
	// takes 50 ns, is no part of the result.
	sampleLength  = 10 * time.Microsecond
	longestSample = int64(time.Minute)
	// warmUp grows buffers and tells how many operations make a sample.
	warmUp = 20 * time.Millisecond
)

func newTrial(mode string, tokens int, do func(i int) (int, error)) *trial {
	return &trial{mode: mode, tokens: tokens, do: do, samples: newSamples()}
}

func newSamples() *hdrhistogram.Histogram { return hdrhistogram.New(1, longestSample, 3) }

// round measures for so long, or until ctx ends.
func (x *trial) round(ctx context.Context, length time.Duration) error {
	if x.batch == 0 {
		if err := x.warm(); err != nil {
			return err
		}
	}
	samples := newSamples()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for took := time.Duration(0); took < length && ctx.Err() == nil; {
		d, err := x.sample()
		if err != nil {
			return err
		}
		took += d
		_ = samples.RecordValue(min(max(int64(d), 1), longestSample)) // in range, so never fails
	}
	runtime.ReadMemStats(&after)
	x.mallocs += after.Mallocs - before.Mallocs
	x.allocated += after.TotalAlloc - before.TotalAlloc
	x.samples.Merge(samples)
	if samples.TotalCount() > 0 {
		x.rounds = append(x.rounds, x.nanos(samples, 50))
	}
	return nil
}

// sample is one measurement of batch operations.
func (x *trial) sample() (time.Duration, error) {
	start := time.Now()
	bytes, err := x.run(x.batch)
	d := time.Since(start)
	x.operations += int64(x.batch)
	x.bytes += int64(bytes)
	x.took += d
	return d, err
}

func (x *trial) run(n int) (bytes int, err error) {
	for range n {
		length, err := x.do(x.n)
		if err != nil {
			return bytes, fmt.Errorf("codec: %s: %w", x.mode, err)
		}
		x.n++
		bytes += length
	}
	return bytes, nil
}

// warm goes through all messages and sets batch.
func (x *trial) warm() error {
	start := time.Now()
	for x.n < mostMessages || time.Since(start) < warmUp {
		if _, err := x.run(1); err != nil {
			return err
		}
	}
	each := float64(time.Since(start)) / float64(x.n)
	x.batch = max(int(math.Ceil(float64(sampleLength)/each)), 1)
	return nil
}

// nanos is a percentile in ns an operation.
func (x *trial) nanos(samples *hdrhistogram.Histogram, percent float64) float64 {
	return float64(samples.ValueAtPercentile(percent)) / float64(x.batch)
}

// codecResult is a trial in numbers.
type codecResult struct {
	Mode    string `json:"mode"`    // encode, decode
	Message string `json:"message"` // request, outputs
	Tokens  int    `json:"tokens"`  // of the prompt; of all rows, which have one each
	Bytes   int    `json:"message_bytes"`

	Operations int64 `json:"operations"`
	Batch      int   `json:"operations_per_sample"` // whose mean time is a sample
	// Nanos are percentiles of the samples.
	Nanos     load.Quantiles `json:"ns_per_operation"`
	Mean      float64        `json:"mean_ns_per_operation"`
	PerToken  float64        `json:"ns_per_token"` // of the mean
	Megabytes float64        `json:"mb_per_s"`     // of messages, in 10^6
	Allocs    float64        `json:"allocs_per_operation"`
	Allocated float64        `json:"allocated_bytes_per_operation"`
	ByRound   []float64      `json:"p50_ns_by_round"`
}

// result is of a trial that has a sample.
func (x *trial) result() *codecResult {
	n := float64(x.operations)
	r := &codecResult{
		Mode: x.mode, Message: "request", Tokens: x.tokens, Bytes: int(x.bytes / x.operations),
		Operations: x.operations, Batch: x.batch, ByRound: x.rounds,
		Nanos:     load.Quantiles{P50: x.nanos(x.samples, 50), P90: x.nanos(x.samples, 90), P99: x.nanos(x.samples, 99)},
		Mean:      float64(x.took) / n,
		Megabytes: float64(x.bytes) / 1e6 / x.took.Seconds(),
		Allocs:    float64(x.mallocs) / n, Allocated: float64(x.allocated) / n,
	}
	if x.mode == decoding {
		r.Message = "outputs"
	}
	r.PerToken = r.Mean / float64(x.tokens)
	return r
}
