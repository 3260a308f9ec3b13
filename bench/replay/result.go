// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"math"
	"slices"
	"time"
)

// Result is what came of a trace with a policy. As JSON it is one object of exactly
// the keys below. All but DecisionsPerSecond are the same each time.
type Result struct {
	Policy   string `json:"policy"` // set by the caller: "least-loaded", …
	Requests int    `json:"requests"`
	Done     int    `json:"done"`
	Failed   int    `json:"failed"` // their engine died, or there was none, or they were too long

	TTFT Quantiles `json:"ttft_ms"` // from arrival to the first token, of all that had one
	E2E  Quantiles `json:"e2e_ms"`  // from arrival to the last token, of those done

	// MaxMean is the outstanding requests of the fullest engine over those of the
	// average one, both averaged over the time from the first arrival to the last.
	// Which engine is the fullest changes from moment to moment; outstanding are
	// those that were routed and have not ended.
	MaxMean float64 `json:"max_mean_outstanding"`
	// MaxMeanEngine is the same for the one engine that was the fullest on average.
	MaxMeanEngine float64 `json:"max_mean_outstanding_engine"`

	PrefixHits         float64  `json:"prefix_hits"`         // share of prompt tokens that were cached
	TokensPerSecond    float64  `json:"output_tokens_per_s"` // until the last arrival
	DecisionsPerSecond float64  `json:"decisions_per_s"`     // by the real time in the policy: Reported, Observe, Pick, Routed
	Engines            []Engine `json:"engines"`             // by rank
}

// Quantiles are in milliseconds, to three digits after the point; 0 when there was
// nothing.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Engine is one engine's part.
type Engine struct {
	Requests    int     `json:"requests"`    // routed to it
	Outstanding float64 `json:"outstanding"` // on average, from the first arrival to the last
	Busy        float64 `json:"busy"`        // share of the same time that it was in steps
}

// count follows a run.
type count struct {
	ended, failed int
	tokens        int
	ttft, e2e     []time.Duration
	since, last   time.Duration // of sums, so far; the last arrival
	from          time.Duration // the first arrival
	begun         bool
	outstanding   []int     // by rank
	sums          []float64 // their integrals, request seconds
	fullest       float64   // the integral of the greatest
	requests      []int     // by rank
	work          []time.Duration
}

func newCount(engines int, last time.Duration) *count {
	return &count{
		last: last, outstanding: make([]int, engines), sums: make([]float64, engines),
		requests: make([]int, engines), work: make([]time.Duration, engines),
	}
}

// pass sums up until now.
func (c *count) pass(now time.Duration) {
	if !c.begun {
		c.begun, c.from, c.since = true, now, now
	}
	now = min(now, c.last)
	if now == c.since {
		return
	}
	d := (now - c.since).Seconds()
	for i, n := range c.outstanding {
		c.sums[i] += d * float64(n)
	}
	c.fullest += d * float64(slices.Max(c.outstanding))
	c.since = now
}

func (c *count) routed(now time.Duration, rank int) {
	c.pass(now)
	c.outstanding[rank]++
	c.requests[rank]++
}

func (c *count) left(now time.Duration, rank int) {
	c.pass(now)
	c.outstanding[rank]--
}

// worked counts a step, as far as it is over at the last arrival.
func (c *count) worked(now time.Duration, rank int, took time.Duration) {
	c.work[rank] += max(min(took, c.last-now), 0)
}

// gave counts tokens.
func (c *count) gave(now time.Duration, tokens int) {
	if now <= c.last {
		c.tokens += tokens
	}
}

func (c *count) first(after time.Duration) { c.ttft = append(c.ttft, after) }

func (c *count) done(after time.Duration) {
	c.e2e = append(c.e2e, after)
	c.ended++
}

func (c *count) fail() {
	c.failed++
	c.ended++
}

// result is what w has come to.
func (w *world) result() *Result {
	c := w.count
	c.pass(w.now)
	span := (c.last - c.from).Seconds()
	r := &Result{
		Requests: len(w.trace), Done: len(c.e2e), Failed: c.failed,
		TTFT: quantiles(c.ttft), E2E: quantiles(c.e2e),
		TokensPerSecond:    rounded(ratio(float64(c.tokens), span), 1),
		DecisionsPerSecond: math.Round(w.client.clock.rate()),
	}
	total, prompts, hits := 0.0, 0, 0
	for i, e := range w.engines {
		total += c.sums[i]
		prompts, hits = prompts+e.prompts, hits+e.hits
		r.Engines = append(r.Engines, Engine{
			Requests: c.requests[i], Outstanding: rounded(ratio(c.sums[i], span), 3),
			Busy: rounded(ratio(c.work[i].Seconds(), span), 3),
		})
	}
	n := float64(len(w.engines))
	r.MaxMean = rounded(ratio(c.fullest*n, total), 3)
	r.MaxMeanEngine = rounded(ratio(slices.Max(c.sums)*n, total), 3)
	r.PrefixHits = rounded(ratio(float64(hits), float64(prompts)), 4)
	return r
}

// quantiles sorts all.
func quantiles(all []time.Duration) Quantiles {
	slices.Sort(all)
	return Quantiles{quantile(all, 0.5), quantile(all, 0.99)}
}

// quantile is the smallest value with at least the share q at or below it, in ms.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return rounded(sorted[max(i, 0)].Seconds()*1000, 3)
}

// ratio is 0 where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func rounded(v float64, digits int) float64 {
	f := math.Pow10(digits)
	return math.Round(v*f) / f
}
