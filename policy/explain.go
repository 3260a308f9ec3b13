// SPDX-License-Identifier: Apache-2.0

package policy

import "math"

// Decider is what a policy implements to say how its last Pick came about. The
// route stage calls it after a Pick that gave an engine; it costs next to nothing.
type Decider interface{ Decided() Decision }

// Decision says which policy chose, the innermost one that did, and why. It is
// comparable, so that decisions can be counted by it.
type Decision struct {
	Policy string // its name, as "least-loaded"
	Reason Reason
}

// Reason is why an engine was chosen. A policy of one's own may have others.
type Reason string

// The reasons of this package's policies, and of the route stage.
const (
	LeastLoad Reason = "least load"
	Degraded  Reason = "degraded: stale reports" // by our own requests alone
	Turn      Reason = "turn"
	Chance    Reason = "chance"

	SessionHome Reason = "session"              // where the session is at home
	SessionNew  Reason = "new session"          // first seen, or idle too long
	SessionMove Reason = "session: engine gone" // home is not among the engines
	SessionFull Reason = "session: engine full" // home has more than its share

	PrefixHit  Reason = "prefix"
	PrefixFull Reason = "prefix: engine full" // the engine that holds more of it has too much load

	AdapterLoaded Reason = "adapter"
	AdapterFull   Reason = "adapter: engines full" // those that have it have more than their share

	Query Reason = "query"

	Pin    Reason = "pin"    // the request names its engine
	Stream Reason = "stream" // its id is live already
)

// Explainer is what a policy implements to say what Pick would do and why. It
// changes nothing. Like Pick, it is never called beside another call.
type Explainer interface {
	Explain(r Request, engines []Engine) Explanation
}

// Explanation is a choice laid open.
type Explanation struct {
	Decision
	Pick int // index into engines; -1 when the policy cannot tell
	// Scores are by index in engines, and the lowest wins; nil where nothing was
	// compared. The unit is the policy's. NaN stands for an engine that was not
	// considered.
	Scores []float64
}

// explain asks a wrapped policy.
func explain(next Policy, r Request, engines []Engine) Explanation {
	if n, ok := next.(Explainer); ok {
		return n.Explain(r, engines)
	}
	return Explanation{Pick: -1}
}

// decided asks a wrapped policy.
func decided(next Policy) Decision {
	if n, ok := next.(Decider); ok {
		return n.Decided()
	}
	return Decision{}
}

// explained scores all engines and finds the lowest, from start on.
func explained(d Decision, start int, engines []Engine, score func(e *Engine) float64) Explanation {
	x := Explanation{Decision: d, Pick: -1, Scores: make([]float64, len(engines))}
	for i := range engines {
		x.Scores[i] = score(&engines[i])
	}
	for k := range engines {
		if i := (start + k) % len(engines); x.Pick < 0 || x.Scores[i] < x.Scores[x.Pick] {
			x.Pick = i
		}
	}
	return x
}

// unscored is n scores of engines that are not considered.
func unscored(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = math.NaN()
	}
	return s
}
