// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/corepipe/corepipe/bench/load"
)

// table is a column of labels and one for each result.
type table struct {
	title string
	rows  [][]string
}

// newTable compares results with the first one.
func newTable(p *plan, results []*load.Result) *table {
	t := &table{title: title(p, results[0])}
	t.add("", results, heading(p))
	t.numbers("requests/s", results, func(r *load.Result) float64 { return r.RequestsPerSecond })
	t.numbers("output tokens/s", results, func(r *load.Result) float64 { return r.TokensPerSecond })
	t.numbers("output tokens/message", results, func(r *load.Result) float64 { return r.TokensPerMessage })
	t.cpu(results)
	for _, q := range []struct {
		label string
		of    func(r *load.Result) load.Quantiles
	}{
		{"time to first token, ms", func(r *load.Result) load.Quantiles { return r.TTFT }},
		{"between tokens, ms", func(r *load.Result) load.Quantiles { return r.ITL }},
		{"end to end, ms", func(r *load.Result) load.Quantiles { return r.E2E }},
	} {
		t.numbers(fmt.Sprintf("%-23s  p50", q.label), results, func(r *load.Result) float64 { return q.of(r).P50 })
		t.numbers(fmt.Sprintf("%-23s  p90", ""), results, func(r *load.Result) float64 { return q.of(r).P90 })
		t.numbers(fmt.Sprintf("%-23s  p99", ""), results, func(r *load.Result) float64 { return q.of(r).P99 })
	}
	t.latency(results)
	t.add("requests per engine", results, perEngine)
	t.add("done", results, func(r *load.Result) string { return strconv.Itoa(r.Done) })
	t.counts("aborted", results, func(r *load.Result) int { return r.Aborted })
	t.counts("failed", results, func(r *load.Result) int { return r.Failed })
	t.counts("not run: interrupted", results, func(r *load.Result) int { return r.Requests - r.Done - r.Failed - r.Aborted })
	return t
}

// title says what was run.
func title(p *plan, r *load.Result) string {
	kind := "simulated "
	if !p.ours() {
		kind = ""
	}
	return fmt.Sprintf("%d requests of %d prompt and %d output tokens, %d at a time, on %d %sengines",
		r.Requests, r.PromptTokens, r.MaxTokens, r.Concurrency, p.engines, kind)
}

// heading names a run by what it differs in.
func heading(p *plan) func(r *load.Result) string {
	return func(r *load.Result) string {
		if len(p.Policy) > 1 {
			return r.Transport + " " + r.Policy
		}
		return r.Transport
	}
}

func (t *table) add(label string, results []*load.Result, cell func(r *load.Result) string) {
	row := []string{label}
	for _, r := range results {
		row = append(row, cell(r))
	}
	t.rows = append(t.rows, row)
}

// numbers adds a row with ratios to the first result.
func (t *table) numbers(label string, results []*load.Result, value func(r *load.Result) float64) {
	base := value(results[0])
	t.add(label, results, func(r *load.Result) string {
		s := number(value(r))
		if base > 0 && r != results[0] {
			s += fmt.Sprintf(" %6.2fx", value(r)/base)
		}
		return s
	})
}

// cpu has ratios only where the same was measured.
func (t *table) cpu(results []*load.Result) {
	first := results[0]
	t.add("CPU µs/request", results, func(r *load.Result) string {
		s := number(r.CPU)
		if first.CPU > 0 && r != first && r.CPUScope == first.CPUScope {
			s += fmt.Sprintf(" %6.2fx", r.CPU/first.CPU)
		}
		return s
	})
	t.add("  of the", results, func(r *load.Result) string {
		if r.CPUScope == "client" {
			return "client"
		}
		return "client and engines"
	})
}

// counts adds a row that is left out when it is all zero.
func (t *table) counts(label string, results []*load.Result, value func(r *load.Result) int) {
	if slices.ContainsFunc(results, func(r *load.Result) bool { return value(r) != 0 }) {
		t.add(label, results, func(r *load.Result) string { return strconv.Itoa(value(r)) })
	}
}

// perEngine lists few engines and gives the range of many.
func perEngine(r *load.Result) string {
	var each []string
	var all []int
	for _, e := range r.Engines {
		each, all = append(each, strconv.Itoa(e.Requests)), append(all, e.Requests)
	}
	if len(all) > 4 {
		return fmt.Sprintf("%d to %d", slices.Min(all), slices.Max(all))
	}
	return strings.Join(each, " ")
}

// number has about three digits, and all before the point.
func number(v float64) string {
	switch {
	case v >= 100 || v == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 0.01:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', 5, 64)
}

// String puts the columns under each other: labels to the left, the rest to the right.
func (t *table) String() string {
	width := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	b.WriteString(t.title + "\n\n")
	for _, row := range t.rows {
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString("   " + pad + cell)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// latency is shown where it was measured.
func (t *table) latency(results []*load.Result) {
	if results[0].Added == (load.Quantiles{}) {
		return
	}
	for _, q := range []struct {
		label string
		of    func(r *load.Result) load.Quantiles
	}{
		{"engine's stamp to receipt, µs", func(r *load.Result) load.Quantiles { return r.Received }},
		{"receipt to reader, µs", func(r *load.Result) load.Quantiles { return r.Added }},
	} {
		t.numbers(q.label+"  p50", results, func(r *load.Result) float64 { return q.of(r).P50 })
		t.numbers(q.label+"  p99", results, func(r *load.Result) float64 { return q.of(r).P99 })
	}
}
