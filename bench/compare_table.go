// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"strconv"
)

// report is what the command writes as JSON.
type report struct {
	Rounds int  `json:"rounds"` // asked for
	Quick  bool `json:"quick"`  // then the numbers mean nothing
	machine
	Blocks []*block `json:"blocks"`
}

// machine is where something was measured.
type machine struct {
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

func thisMachine() machine { return machine{runtime.NumCPU(), runtime.Version()} }

func newReport(rounds int, quick bool) *report {
	return &report{Rounds: rounds, Quick: quick, machine: thisMachine()}
}

// legend says how to read the tables.
func (r *report) legend() string {
	text := "Medians of the rounds; ratios are those of each round: the median, least–most.\n" +
		"CPU is user and system time of the client's process" +
		"; in memory the engines are in it, and ratios mean nothing.\n" +
		"streams: a stream and a reader for each request; merged: the same, woken for 8 tokens; raw feed: one loop over whole steps, as the floor and vLLM's client."
	if r.Quick {
		text += "\n--quick: the numbers are noise."
	}
	return text
}

// table has a column for each client.
func (b *block) table() *table {
	t := &table{title: fmt.Sprintf("%s; rounds: %d", b.setting, b.full()), rows: [][]string{{""}}}
	for _, c := range b.Clients {
		t.rows[0] = append(t.rows[0], c.heading())
	}
	b.row(t, "requests/s", func(c *clientRounds) string { return number(c.Median.RequestsPerSecond) })
	b.ratios(t, func(r *ratios) *spread { return &r.Requests })
	b.row(t, "output tokens/s", func(c *clientRounds) string { return number(c.Median.TokensPerSecond) })
	b.row(t, "output tokens/message", func(c *clientRounds) string { return number(c.Median.TokensPerMessage) })
	b.row(t, "CPU µs/request", func(c *clientRounds) string { return number(c.Median.CPURequest) })
	b.ratios(t, func(r *ratios) *spread { return r.CPU })
	b.row(t, "CPU µs/output token", func(c *clientRounds) string { return number(c.Median.CPUToken) })
	b.row(t, "time to first token, ms  p50", func(c *clientRounds) string { return number(c.Median.TTFT.P50) })
	b.row(t, "                         p99", func(c *clientRounds) string { return number(c.Median.TTFT.P99) })
	b.row(t, "end to end, ms           p50", func(c *clientRounds) string { return number(c.Median.E2E.P50) })
	b.row(t, "                         p99", func(c *clientRounds) string { return number(c.Median.E2E.P99) })
	return t
}

func (c *clientRounds) heading() string {
	for _, p := range allPeers() {
		if p.name == c.Name {
			return p.heading
		}
	}
	return c.Name
}

func (b *block) row(t *table, label string, cell func(c *clientRounds) string) {
	row := []string{label}
	for _, c := range b.Clients {
		row = append(row, cell(c))
	}
	t.rows = append(t.rows, row)
}

// ratios adds a row for each client that others are compared with.
func (b *block) ratios(t *table, of func(r *ratios) *spread) {
	for _, base := range []struct {
		name, label string
		to          func(c *clientRounds) *ratios
	}{
		{"floor", "  to the floor's", func(c *clientRounds) *ratios { return c.ToFloor }},
		{"vllm", "  to vLLM's", func(c *clientRounds) *ratios { return c.ToVLLM }},
	} {
		if b.client(base.name) == nil || len(b.Clients) == 1 {
			continue
		}
		b.row(t, base.label, func(c *clientRounds) string {
			if r := base.to(c); r != nil && of(r) != nil {
				return of(r).String()
			}
			return ""
		})
	}
}

// String leaves out how far values are apart that are not.
func (s *spread) String() string {
	if s.Min == s.Max {
		return times(s.Median) + "x"
	}
	return times(s.Median) + "x " + times(s.Min) + "–" + times(s.Max)
}

// times is a ratio in about three digits.
func times(v float64) string {
	if v >= 10 {
		return number(v)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
