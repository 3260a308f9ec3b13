// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pebbe/zmq4"
)

// waiter parks a goroutine in Go's poller on a socket's ZMQ_FD. The descriptor
// tells edges, not levels: whoever waits must look at the socket after the
// poller was armed, which is why the look is the callback of RawConn.Read.
type waiter struct {
	file *os.File
	raw  syscall.RawConn
	// poked is true from a poke until the woken goroutine has taken it back,
	// so that pokes in between cost one compare and swap.
	poked atomic.Bool
}

// newWaiter works on a copy of the descriptor: the original is libzmq's to
// close, os.File closes its own.
func newWaiter(soc *zmq4.Socket) (*waiter, error) {
	fd, err := soc.GetFd()
	if err != nil {
		return nil, fmt.Errorf("zmq: descriptor: %w", err)
	}
	syscall.ForkLock.RLock() // or a process started just now would inherit it
	own, err := syscall.Dup(fd)
	if err == nil {
		syscall.CloseOnExec(own)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("zmq: copy descriptor: %w", err)
	}
	if err := syscall.SetNonblock(own, true); err != nil {
		_ = syscall.Close(own)
		return nil, fmt.Errorf("zmq: descriptor: %w", err)
	}
	w := &waiter{file: os.NewFile(uintptr(own), "zmq")}
	if w.raw, err = w.file.SyscallConn(); err == nil {
		// Fails when the poller did not take the descriptor.
		err = w.file.SetReadDeadline(time.Time{})
	}
	if err != nil {
		_ = w.file.Close()
		return nil, fmt.Errorf("zmq: poll descriptor: %w", err)
	}
	return w, nil
}

// poke makes a wait, now or the next one, end with os.ErrDeadlineExceeded. Any
// goroutine may call it, at any time, also after close.
func (w *waiter) poke() {
	if w.poked.CompareAndSwap(false, true) {
		_ = w.file.SetReadDeadline(time.Unix(1, 0)) // fails after close alone
	}
}

// settle takes a poke back. The order is the rule: a poke that comes before the
// flag is down is covered by the look at the socket that follows, one after it
// sets the deadline again.
func (w *waiter) settle() {
	_ = w.file.SetReadDeadline(time.Time{})
	w.poked.Store(false)
}

// close gives the descriptor back. Nobody may be waiting.
func (w *waiter) close() error { return w.file.Close() }
