// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
)

// codecReport is what the command writes as JSON.
type codecReport struct {
	Release string  `json:"release"`
	Seconds float64 `json:"seconds"` // of each in a round
	Rounds  int     `json:"rounds"`  // asked for
	machine
	Results []*codecResult `json:"results"`
}

// print writes what was measured, and nothing where that is nothing.
func (c *codecCmd) print(t terminal, all []*trial) error {
	r := &codecReport{Release: c.Release, Seconds: c.Seconds, Rounds: c.Rounds, machine: thisMachine()}
	for _, x := range all {
		if x.operations > 0 {
			r.Results = append(r.Results, x.result())
		}
	}
	if len(r.Results) == 0 {
		return nil
	}
	if c.JSON != "-" {
		if _, err := fmt.Fprint(t.out, r.table(), "\n", r.legend(), "\n"); err != nil {
			return err
		}
	}
	return writeJSON(c.JSON, t.out, r)
}

// table has a line for each trial.
func (r *codecReport) table() *table {
	t := &table{title: "messages of vLLM " + r.Release + ", without an engine and without a transport"}
	t.rows = [][]string{{"", "bytes", "ns p50", "p90", "p99", "ns/token", "MB/s", "allocations", "bytes allocated"}}
	for _, x := range r.Results {
		t.rows = append(t.rows, []string{
			x.name(), strconv.Itoa(x.Bytes), number(x.Nanos.P50), number(x.Nanos.P90), number(x.Nanos.P99),
			number(x.PerToken), number(x.Megabytes), number(x.Allocs), number(x.Allocated),
		})
	}
	return t
}

func (x *codecResult) name() string {
	what := "decode a step of %d row"
	if x.Mode == encoding {
		what = "encode a request of %d token"
	}
	if x.Tokens > 1 {
		what += "s"
	}
	return fmt.Sprintf(what, x.Tokens)
}

// legend says how to read the table.
func (r *codecReport) legend() string {
	return fmt.Sprintf("Percentiles are of samples of %v, which are several short operations or one long one; ns/token, MB/s and allocations are of all.\n"+
		"A row has one token.", sampleLength)
}
