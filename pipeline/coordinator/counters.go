// SPDX-License-Identifier: Apache-2.0

package coordinator

import "fmt"

// Counters count what happened since the start.
type Counters struct {
	Ready         uint64 `json:"ready"`          // READY sent to the engines
	Published     uint64 `json:"published"`      // publications with loads
	Reports       uint64 `json:"reports"`        // of engines' loads, taken
	FirstRequests uint64 `json:"first_requests"` // heard from clients
	Wakes         uint64 `json:"wakes"`          // starts of a wave sent to the engines
	Waves         uint64 `json:"waves"`          // that ended
	Scaled        uint64 `json:"scaled"`         // new numbers of engines
	Stale         uint64 `json:"stale"`          // reports older than one before of that engine
	Unmanaged     uint64 `json:"unmanaged"`      // reports of ranks that are not coordinated
	Malformed     uint64 `json:"malformed"`      // messages that are not the protocol's
}

// Counters reads all counters.
func (c *Coordinator) Counters() Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// SkippedError is a message that was not taken. The coordinator goes on.
type SkippedError struct {
	Socket string // "front", "back publish" or "back output"
	Err    error
}

func (e *SkippedError) Error() string {
	return fmt.Sprintf("coordinator: message at %s skipped: %v", e.Socket, e.Err)
}

// Unwrap returns the reason.
func (e *SkippedError) Unwrap() error { return e.Err }
