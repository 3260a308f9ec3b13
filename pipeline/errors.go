// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/corepipe/corepipe/codec"
)

// Errors to be tested with errors.Is.
var (
	// ErrClosed says that the Client is closed or closing.
	ErrClosed = errors.New("pipeline: client closed")
	// ErrDuplicate says that a request of this id is live.
	ErrDuplicate = errors.New("pipeline: request id is in use")
	// ErrAborted is the end of a stream that its owner aborted or closed.
	ErrAborted = errors.New("pipeline: request aborted")
	// ErrDropped is the end of a command that a stage dropped.
	ErrDropped = errors.New("pipeline: dropped by a stage")
	// ErrEngineDead says that the engine died or cannot be reached.
	ErrEngineDead = errors.New("pipeline: engine dead")
	// ErrEngineRestarted ends the streams of an engine that started anew.
	ErrEngineRestarted = errors.New("pipeline: engine restarted")
	// ErrNoEngine says that no engine can take the request.
	ErrNoEngine = errors.New("pipeline: no engine available")
)

// EngineError is a failure at one engine. Err wraps ErrEngineDead,
// ErrEngineRestarted or a transport's error.
type EngineError struct {
	Rank int
	Op   string // what was under way: "handshake", "ready", "route", "send", "receive", or a utility method
	Err  error
}

func (e *EngineError) Error() string {
	return fmt.Sprintf("pipeline: engine %d: %s: %v", e.Rank, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *EngineError) Unwrap() error { return e.Err }

// FinishError is the end of a stream whose engine gave the request up: an abort
// of its own, a failure (which may be tried again), or a reason unknown here.
type FinishError struct {
	ID     string
	Rank   int
	Reason codec.FinishReason
	Detail *codec.RequestError // since vLLM 0.33.0; nil before
}

func (e *FinishError) Error() string {
	s := fmt.Sprintf("pipeline: request %s: engine %d finished it with %v", e.ID, e.Rank, e.Reason)
	if e.Detail != nil {
		s += fmt.Sprintf(": %s: %s", e.Detail.Code, e.Detail.Message)
	}
	return s
}

// RequestError is a failure of one request on its way to an engine.
type RequestError struct {
	ID  string
	Op  string // "submit", "encode", "route", "send", "run", "decode"
	Err error
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("pipeline: request %s: %s: %v", e.ID, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// PolicyError is a choice that cannot be used; the request alone fails.
type PolicyError struct {
	Pick, Engines int   // the index and the number of candidates
	Err           error // a *PanicError, or nil
}

func (e *PolicyError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("policy: %v", e.Err)
	}
	return fmt.Sprintf("policy: picked %d of %d engines", e.Pick, e.Engines)
}

// Unwrap returns the cause.
func (e *PolicyError) Unwrap() error { return e.Err }

// PinError is a pin to a rank that cannot be honoured.
type PinError struct {
	Pin   int   // Request.DataParallelRank, an index into the managed ranks
	Ranks []int // the managed ranks
}

func (e *PinError) Error() string {
	return fmt.Sprintf("data_parallel_rank %d: want an index into the managed ranks %v", e.Pin, e.Ranks)
}

// ConfigError is a Config that cannot be used.
type ConfigError struct{ Field, Rule string }

func (e *ConfigError) Error() string { return fmt.Sprintf("pipeline: Config.%s: %s", e.Field, e.Rule) }

// ConnectError says which engines were not ready in time.
type ConnectError struct {
	Ready, Missing []int // ranks
	Waited         time.Duration
	Err            error // the context's cause, or what an engine did wrong
}

func (e *ConnectError) Error() string {
	s := fmt.Sprintf("pipeline: connect: after %v engines %v are ready and %v are missing: %v",
		e.Waited.Round(time.Millisecond), e.Ready, e.Missing, e.Err)
	if errors.Is(e.Err, errTimeout) {
		s += " (loading weights is the usual reason; Config.ConnectTimeout is the limit)"
	}
	return s
}

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// CallError is a utility call that an engine refused.
type CallError struct {
	Rank            int
	Method, Message string // Message is vLLM's failure_message
}

func (e *CallError) Error() string {
	return fmt.Sprintf("pipeline: engine %d: %s: %s", e.Rank, e.Method, e.Message)
}
