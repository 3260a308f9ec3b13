// SPDX-License-Identifier: Apache-2.0

package codec

// Exclude says whom a start of a wave leaves out. The zero value is nobody.
type Exclude struct {
	// Set says that Rank is left out.
	Set  bool
	Rank int
	// Identity says that the rank travels as the engine's two-byte identity, as
	// vLLM's Python client sends it. An engine compares it with an integer, so
	// it excludes nobody in effect.
	Identity bool
}

// ExcludeRank leaves out one engine.
func ExcludeRank(rank int) Exclude { return Exclude{Set: true, Rank: rank} }

// Counts is what a coordinator publishes to clients.
type Counts struct {
	// Rows has one entry an engine in rank order; nil in messages that only
	// tell of a wave.
	Rows []CountsRow
	Wave int
	// Running says that the engines are in a wave.
	Running bool
}

// CountsRow is one engine's load. Before 0.29.0 it has no KVUsage.
type CountsRow struct {
	Waiting, Running int
	KVUsage          float64
}

// CoordinatorCall is what a client tells a coordinator: a first request while
// the engines rest (up to 0.32.0), or a new number of engines.
type CoordinatorCall struct {
	// Scale is the new number of engines; 0 makes it a first request.
	// vLLM: SCALE_ELASTIC_EP.
	Scale int
	// Engine is the one that got the first request.
	Engine Exclude
	// Wave is the client's.
	Wave int
}
