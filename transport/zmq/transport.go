// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pebbe/zmq4"
)

const (
	maxSockets = 16384 // libzmq's own default of 1023 is one output address per engine away
	termGrace  = time.Second
)

// Transport is a ZeroMQ context of its own. Make one with New; it must be
// closed, after its Conns. Methods may be called from any goroutine.
type Transport struct {
	zctx *zmq4.Context
	done chan struct{} // closed when the context has ended; termErr may be read then

	termErr error

	mu     sync.Mutex
	conns  map[*conn]struct{} // open ones
	closed bool
	linger time.Duration // the longest of any Conn so far: Term may take as long
}

// OpenError is what Transport.Close returns while Conns are open.
type OpenError struct {
	Endpoints []string // of the open Conns, sorted
}

// Error lists the endpoints.
func (e *OpenError) Error() string {
	return fmt.Sprintf("zmq: %d connections still open: %s", len(e.Endpoints), strings.Join(e.Endpoints, ", "))
}

// TermError says that libzmq had not given its context back after Waited. It
// goes on trying in the background.
type TermError struct{ Waited time.Duration }

// Error says how long Close waited.
func (e *TermError) Error() string {
	return fmt.Sprintf("zmq: context not ended after %v", e.Waited)
}

// errMadeByHand is a Transport without a context.
var errMadeByHand = errors.New("a Transport is made by New")

// New makes a context with one I/O thread, which starts with the first Open. Two, as
// vLLM has, take 5 to 10 % more CPU at paced steps: each is woken for half the work.
func New() (*Transport, error) { return NewThreads(1) }

// NewThreads is New with n I/O threads, over which libzmq spreads the connections: one
// moves about a gigabyte a second.
func NewThreads(n int) (*Transport, error) {
	if n < 1 {
		return nil, fmt.Errorf("zmq: I/O threads: must be 1 or more, is %d", n)
	}
	zctx, err := zmq4.NewContext()
	if err != nil {
		return nil, fmt.Errorf("zmq: new context: %w", err)
	}
	t := &Transport{zctx: zctx, done: make(chan struct{}), conns: map[*conn]struct{}{}}
	if err := zctx.SetIoThreads(n); err != nil {
		return nil, fmt.Errorf("zmq: I/O threads: %w", err)
	}
	if err := zctx.SetMaxSockets(maxSockets); err != nil {
		return nil, fmt.Errorf("zmq: socket limit: %w", err)
	}
	return t, nil
}

// Close ends the context. With Conns open it does nothing and returns an
// *OpenError. Otherwise it waits until what they sent is delivered or their
// Linger is over; a *TermError tells that libzmq took a second more than that.
// A second Close waits for the first.
func (t *Transport) Close() error {
	if t.zctx == nil {
		return errMadeByHand
	}
	t.mu.Lock()
	if len(t.conns) > 0 {
		e := &OpenError{}
		for c := range t.conns {
			e.Endpoints = append(e.Endpoints, c.endpoint)
		}
		t.mu.Unlock()
		slices.Sort(e.Endpoints)
		return e
	}
	first := !t.closed
	t.closed = true
	patience := t.linger + termGrace
	t.mu.Unlock()

	if first {
		// zmq_ctx_term cannot be interrupted, so it gets a goroutine to be stuck in.
		go func() {
			defer close(t.done)
			if err := t.zctx.Term(); err != nil {
				t.termErr = fmt.Errorf("zmq: end context: %w", err)
			}
		}()
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-t.done:
		return t.termErr
	case <-timer.C:
		return &TermError{Waited: patience}
	}
}

// forget takes a closed Conn off the list.
func (t *Transport) forget(c *conn) {
	t.mu.Lock()
	delete(t.conns, c)
	t.mu.Unlock()
}
