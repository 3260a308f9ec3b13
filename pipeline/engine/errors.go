// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"sync/atomic"

	"github.com/corepipe/corepipe/codec"
)

// DeathError is the end of an engine whose Core died.
type DeathError struct {
	Rank      int
	Announced bool // the clients were told
	Err       error
}

func (e *DeathError) Error() string {
	if e.Announced {
		return fmt.Sprintf("engine: %d died: %v", e.Rank, e.Err)
	}
	return fmt.Sprintf("engine: %d died silently: %v", e.Rank, e.Err)
}

// Unwrap returns what Dead said.
func (e *DeathError) Unwrap() error { return e.Err }

// SkippedError is a message that was not taken. A vLLM engine would not have
// survived it.
type SkippedError struct {
	Kind codec.Kind // of the message, if it has one
	ID   string     // of the request, if it could be read
	Err  error
}

func (e *SkippedError) Error() string {
	if e.ID != "" {
		return fmt.Sprintf("engine: %v message of %q skipped: %v", e.Kind, e.ID, e.Err)
	}
	return fmt.Sprintf("engine: %v message skipped: %v", e.Kind, e.Err)
}

// Unwrap returns the cause.
func (e *SkippedError) Unwrap() error { return e.Err }

// Counters count what an engine did. They may be read at any time.
type Counters struct {
	Requests   atomic.Uint64 // taken
	Finished   atomic.Uint64 // with an output that says so
	Aborted    atomic.Uint64 // by their client
	Duplicates atomic.Uint64 // refused: the id was in use
	Calls      atomic.Uint64 // utility calls
	Steps      atomic.Uint64 // with outputs
	Messages   atomic.Uint64 // sent
	Tokens     atomic.Uint64 // sent
	Skipped    atomic.Uint64 // messages that were not taken
	Unsent     atomic.Uint64 // messages that nobody took
	Reports    atomic.Uint64 // sent to the coordinator, waves among them
	Woken      atomic.Uint64 // heard from the coordinator: others run
}
