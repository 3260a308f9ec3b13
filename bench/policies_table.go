// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/corepipe/corepipe/bench/replay"
)

// comparison is what the command writes as JSON.
type comparison struct {
	Seed      uint64      `json:"seed"`
	Scenarios []*compared `json:"scenarios"`
}

// compared is a scenario and what came of it with each policy.
type compared struct {
	Name         string           `json:"name"`
	About        string           `json:"about"`
	Engines      int              `json:"engines"`
	Report       float64          `json:"report_s"` // 0: always fresh
	Requests     int              `json:"requests"`
	Span         float64          `json:"span_s"` // from the first arrival to the last
	PromptTokens int              `json:"prompt_tokens"`
	OutputTokens int              `json:"output_tokens"`
	Results      []*replay.Result `json:"results"` // by policy
}

func (a *comparison) add(s *scenario, results []*replay.Result) {
	c := &compared{
		Name: s.Name, About: s.About, Engines: len(results[0].Engines), Report: s.Report.Seconds(),
		Requests: len(s.trace), Span: (s.trace[len(s.trace)-1].At - s.trace[0].At).Seconds(), Results: results,
	}
	for i := range s.trace {
		c.PromptTokens += s.trace[i].Prompt
		c.OutputTokens += s.trace[i].Output
	}
	a.Scenarios = append(a.Scenarios, c)
}

// newPolicyTable has a line for each policy.
func newPolicyTable(c *compared) *table {
	t := &table{title: c.title(), rows: [][]string{{
		"", "first token p50, ms", "p99, ms", "", "end to end p50, s", "p99, s", "max/mean", "hits", "tokens/s", "decisions/s",
	}}}
	failing := slices.ContainsFunc(c.Results, func(r *replay.Result) bool { return r.Failed > 0 })
	if failing {
		t.rows[0] = append(t.rows[0], "failed")
	}
	for _, r := range c.Results {
		row := []string{
			r.Policy, number(r.TTFT.P50), number(r.TTFT.P99), c.against(r), number(r.E2E.P50 / 1000), number(r.E2E.P99 / 1000),
			twoDigits(r.MaxMean), percent(r.PrefixHits), number(r.TokensPerSecond), short(r.DecisionsPerSecond),
		}
		if failing {
			row = append(row, strconv.Itoa(r.Failed))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// against compares the time to first token with the first policy's.
func (c *compared) against(r *replay.Result) string {
	mark := "*"
	for _, other := range c.Results {
		if other.TTFT.P99 < r.TTFT.P99 {
			mark = " "
		}
	}
	return fmt.Sprintf("%.2fx%s", r.TTFT.P99/max(c.Results[0].TTFT.P99, 0.001), mark)
}

// title says what was replayed.
func (c *compared) title() string {
	reports := "always true"
	if c.Report > 0 {
		reports = "every " + time.Duration(c.Report*float64(time.Second)).String()
	}
	return fmt.Sprintf("%s: %s\n%d requests in %.0f s, of %d prompt and %d output tokens on average, on %d simulated engines with reports %s",
		c.Name, c.About, c.Requests, c.Span, c.PromptTokens/c.Requests, c.OutputTokens/c.Requests, c.Engines, reports)
}

// newSummary has a column for each scenario.
func (a *comparison) newSummary() *table {
	t := &table{title: "p99 of the time to first token, against " + a.Scenarios[0].Results[0].Policy}
	t.rows = [][]string{{""}}
	for _, r := range a.Scenarios[0].Results {
		t.rows = append(t.rows, []string{r.Policy})
	}
	for _, c := range a.Scenarios {
		t.rows[0] = append(t.rows[0], c.Name+" ")
		for i, r := range c.Results {
			t.rows[i+1] = append(t.rows[i+1], c.against(r))
		}
	}
	return t
}

func twoDigits(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func percent(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }

// short is a large number in two digits.
func short(v float64) string {
	switch {
	case v >= 1e7:
		return fmt.Sprintf("%.0fM", v/1e6)
	case v >= 1e6:
		return fmt.Sprintf("%.1fM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.0fk", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}
