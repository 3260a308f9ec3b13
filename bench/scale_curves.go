// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/corepipe/corepipe/pipeline/engine"
)

// curve is how a cost follows one thing that grows.
type curve struct {
	Name   string   `json:"name"`
	About  string   `json:"about"` // what stays as it is
	Axis   string   `json:"axis"`  // what grows
	Unit   string   `json:"unit"`  // of the cost
	Points []*point `json:"points"`

	cost  func(p *point, f scaled) float64
	quick int // the last point that takes little
}

// point is one place on a curve: what is sent, to which engines.
type point struct {
	At int `json:"at"`
	workload
	AuxBytes int `json:"aux_bytes"`
	Engines  int `json:"engines"`
	MaxBatch int `json:"max_batch"` // requests in a step

	Rounds []scaled `json:"rounds"`
	Median scaled   `json:"median"`
	Cost   spread   `json:"cost"`
	// Ratios of costs, round by round: to the first point's, to that of the one before, and
	// to the least.
	ToFirst    *spread `json:"to_first,omitempty"`
	ToBefore   *spread `json:"to_before,omitempty"`
	ToCheapest *spread `json:"to_cheapest,omitempty"`
	// Added is what one token or MiB more than the point before has cost.
	Added *spread `json:"added_cost,omitempty"`
	Cliff bool    `json:"cliff"` // costs more than maxStepUp times what the one before does
}

func curveNames() []string {
	return []string{"engines", "engines-total", "streams", "streams-waiting", "prompt", "aux"}
}

// newCurve gives one of curveNames.
func newCurve(name string) *curve {
	perToken := func(p *point, f scaled) float64 { return f.CPURequest / float64(p.OutputTokens) }
	perPromptToken := func(p *point, f scaled) float64 { return 1000 * f.CPURequest / float64(p.PromptTokens) }
	perMiB := func(p *point, f scaled) float64 { return f.CPURequest * mib / float64(p.AuxBytes) }
	engines := []int{1, 2, 4, 8, 16, 32, 64}
	v := map[string]*curve{
		"engines": {
			About: "64 live requests of 128 prompt and 32 output tokens on each engine", Axis: "engines",
			Unit: "CPU µs/output token", cost: perToken, quick: 8, Points: points(engines, onEngines(64, 0)),
		},
		"engines-total": {
			About: "256 live requests of 128 prompt and 32 output tokens on all engines together", Axis: "engines",
			Unit: "CPU µs/output token", cost: perToken, quick: 8, Points: points(engines, onEngines(0, 256)),
		},
		"streams": {
			About: "all live requests, of 128 prompt and 128 output tokens, get a token in each step of one engine", Axis: "live streams",
			Unit: "CPU µs/output token", cost: perToken, quick: 1000, Points: points([]int{1, 10, 100, 1000, 10000, 50000}, running),
		},
		"streams-waiting": {
			About: "256 of the live requests, of 128 prompt and 32 output tokens, get a token in each step of one engine", Axis: "live streams",
			Unit: "CPU µs/output token", cost: perToken, quick: 1000, Points: points([]int{256, 1000, 10000, 50000}, waiting),
		},
		"prompt": {
			About: "16 live requests of one output token on one engine", Axis: "prompt tokens",
			Unit: "CPU ns/prompt token", cost: perPromptToken, quick: 8192, Points: points([]int{128, 512, 2048, 8192, 32768, 131072}, prompted),
		},
		"aux": {
			About: "4 live requests of 128 prompt tokens and one output token on one engine", Axis: auxBytes,
			Unit: "CPU µs/MiB", cost: perMiB, quick: mib,
			Points: points([]int{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26}, withAux),
		},
	}[name]
	v.Name = name
	return v
}

// auxBytes is the axis that is labelled in KiB and MiB.
const auxBytes = "aux bytes"

const mib = 1 << 20

// points are those where what grows has the given values.
func points(at []int, of func(n int) point) (list []*point) {
	for _, n := range at {
		p := of(n)
		p.At = n
		list = append(list, &p)
	}
	return list
}

// onEngines has so many live requests on each engine, or so many on all; and the same
// requests in all.
func onEngines(each, all int) func(n int) point {
	return func(n int) point {
		return point{workload: workload{16384, each*n + all, 128, 32}, Engines: n, MaxBatch: engine.DefaultMaxBatch}
	}
}

// running has n live requests in each step. Many are as many requests as make two waves
// of them; few are 20 waves, which take 2.5 s at 1 ms.
func running(n int) point {
	return point{workload: workload{min(20*n, max(10000, 2*n)), n, 128, 128}, Engines: 1, MaxBatch: n}
}

// waiting has n live requests, of which most wait.
func waiting(n int) point {
	return point{workload: workload{max(10000, 2*n), n, 128, 32}, Engines: 1, MaxBatch: engine.DefaultMaxBatch}
}

// prompted sends 32 million prompt tokens, if that is a sensible number of requests.
func prompted(n int) point {
	return point{workload: workload{min(max(1<<25/n, 256), 20000), 16, n, 1}, Engines: 1, MaxBatch: engine.DefaultMaxBatch}
}

// withAux sends a GiB, if that is a sensible number of requests.
func withAux(n int) point {
	return point{workload: workload{min(max(1<<30/n, 32), 10000), 4, 128, 1}, AuxBytes: n, Engines: 1, MaxBatch: engine.DefaultMaxBatch}
}

// curves are those that the flags ask for, once checked.
func (c *scaleCmd) curves() (list []*curve) {
	for _, name := range orElse(c.Curve, curveNames()) {
		v := newCurve(name)
		if c.Quick {
			v.Points = slices.DeleteFunc(v.Points, func(p *point) bool { return p.At > v.quick })
			for _, p := range v.Points {
				p.Requests = max(p.Requests/quickly, p.Concurrency)
			}
		}
		list = append(list, v)
	}
	return list
}
