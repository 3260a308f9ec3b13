// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq

import (
	"fmt"
	"strings"
	"time"

	"github.com/pebbe/zmq4"
)

// releaseWait bounds the wait for libzmq's I/O thread, which needs well under a
// millisecond.
const releaseWait = time.Second

// release stops listening and returns when the address can be bound again.
// zmq_close would leave that to an I/O thread, and a bind that comes at once
// would find the address taken. Connections live on until the socket is closed.
func (c *conn) release() {
	path, _ := socketFile(c.bound)
	removeFile(path, c.file) // first: as long as we listen nobody else can own the path
	if strings.HasPrefix(c.bound, "inproc://") {
		_ = c.soc.Unbind(c.bound) // at once
		return
	}
	monitor := fmt.Sprintf("inproc://corepipe.release.%p", c)
	events, err := c.watchClosed(monitor)
	_ = c.soc.Unbind(c.bound)
	if err != nil {
		return // not worth an error: the address is free a little later
	}
	for end := time.Now().Add(releaseWait); time.Now().Before(end); {
		if event, _, _, err := events.RecvEvent(0); err == nil && event == zmq4.EVENT_CLOSED {
			break
		}
	}
	_ = c.soc.Monitor("", 0)
	_ = events.Close()
}

// watchClosed returns a socket that hears when a listener of c is closed.
func (c *conn) watchClosed(monitor string) (*zmq4.Socket, error) {
	events, err := c.t.zctx.NewSocket(zmq4.PAIR)
	if err != nil {
		return nil, err
	}
	_ = events.SetLinger(0)
	if err = events.SetRcvtimeo(100 * time.Millisecond); err == nil {
		if err = c.soc.Monitor(monitor, zmq4.EVENT_CLOSED); err == nil {
			if err = events.Connect(monitor); err == nil {
				return events, nil
			}
		}
	}
	_ = events.Close()
	return nil, err
}
