// SPDX-License-Identifier: Apache-2.0

package pipeline

import "sync/atomic"

// counters are the Table's own, each counted where the thing happens.
type counters struct {
	malformed, badRows, late, strangers, reencoded, unknownCalls, blind atomic.Uint64
}

// Counters count what was survived since the start.
type Counters struct {
	Malformed uint64 // messages that could not be decoded
	BadRows   uint64 // outputs that could not be decoded; their request failed
	Late      uint64 // outputs of requests that had ended
	Strangers uint64 // messages of an identity that is not managed
	Reencoded uint64 // requests encoded again for an engine of another layout
	Calls     uint64 // replies nobody waits for
	Blind     uint64 // choices made while the coordinator had been silent for TableConfig.StaleAfter
}

// Counters reads all counters.
func (t *Table) Counters() Counters {
	c := &t.counts
	return Counters{
		c.malformed.Load(), c.badRows.Load(), c.late.Load(),
		c.strangers.Load(), c.reencoded.Load(), c.unknownCalls.Load(), c.blind.Load(),
	}
}
