// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
)

// block is a setting and what the clients gave in it, round by round.
type block struct {
	setting
	Clients []*clientRounds `json:"clients"`
}

// clientRounds are the runs of a client.
type clientRounds struct {
	Name   string    `json:"name"`
	Scope  string    `json:"cpu_scope"` // "client", or "process" when its engines are in it
	Rounds []figures `json:"rounds"`
	Median figures   `json:"median"`
	// Ratios to others of the same round, where there are both.
	ToFloor *ratios `json:"to_floor,omitempty"`
	ToVLLM  *ratios `json:"to_vllm,omitempty"`
}

// ratios are those of two clients. CPU is left out where one covers more.
type ratios struct {
	Requests spread  `json:"requests_per_s"`
	CPU      *spread `json:"cpu_us_per_request,omitempty"`
}

// spread is the middle of some values, and how far they are apart.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// newSpread is of at least one value.
func newSpread(values []float64) spread {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return spread{Median: (v[(n-1)/2] + v[n/2]) / 2, Min: v[0], Max: v[n-1]}
}

// full is how many rounds all clients have.
func (b *block) full() int {
	return fewest(b.Clients, func(c *clientRounds) int { return len(c.Rounds) })
}

// fewest is the least of all counts.
func fewest[T any](all []T, count func(T) int) int {
	n := math.MaxInt
	for _, v := range all {
		n = min(n, count(v))
	}
	return n
}

// sum fills in what follows from the rounds, of which it keeps the full ones.
func (b *block) sum() {
	n := b.full()
	for _, c := range b.Clients {
		c.Rounds = c.Rounds[:n]
		c.Median = median(c.Rounds)
	}
	floor, vllm := b.client("floor"), b.client("vllm")
	for _, c := range b.Clients {
		c.ToFloor, c.ToVLLM = c.against(floor), c.against(vllm)
	}
}

// client is the one of that name; nil when it was not measured.
func (b *block) client(name string) *clientRounds {
	for _, c := range b.Clients {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// against compares c with another client, round by round.
func (c *clientRounds) against(o *clientRounds) *ratios {
	if o == nil || o == c {
		return nil
	}
	r := &ratios{Requests: c.ratio(o, func(f figures) float64 { return f.RequestsPerSecond })}
	if c.Scope == o.Scope {
		r.CPU = new(c.ratio(o, func(f figures) float64 { return f.CPURequest }))
	}
	return r
}

func (c *clientRounds) ratio(o *clientRounds, of func(f figures) float64) spread {
	var each []float64
	for i := range c.Rounds {
		each = append(each, of(c.Rounds[i])/of(o.Rounds[i]))
	}
	return newSpread(each)
}

// median is the median of each figure by itself.
func median(rounds []figures) (m figures) {
	for _, f := range []func(f *figures) *float64{
		func(f *figures) *float64 { return &f.RequestsPerSecond },
		func(f *figures) *float64 { return &f.TokensPerSecond },
		func(f *figures) *float64 { return &f.TokensPerMessage },
		func(f *figures) *float64 { return &f.CPURequest },
		func(f *figures) *float64 { return &f.CPUToken },
		func(f *figures) *float64 { return &f.TTFT.P50 },
		func(f *figures) *float64 { return &f.TTFT.P99 },
		func(f *figures) *float64 { return &f.E2E.P50 },
		func(f *figures) *float64 { return &f.E2E.P99 },
	} {
		var values []float64
		for i := range rounds {
			values = append(values, *f(&rounds[i]))
		}
		*f(&m) = newSpread(values).Median
	}
	return m
}
