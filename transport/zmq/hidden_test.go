// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq_test

import (
	"context"
	"testing"
	"time"

	"github.com/corepipe/corepipe/transport"
)

// A send handles what libzmq has to tell, and takes the receiver's edge with it. On a
// socket on which nothing was received for long, the receiver is told a little later.
func TestAPacketThatSendsHaveHiddenIsReceived(t *testing.T) {
	tr := newTransport(t)
	router := open(t, tr, transport.Socket{Pattern: transport.Router, Endpoint: address(t, "ipc"), Bind: true})
	var dealers []transport.Conn
	for _, name := range []string{"\x00\x00", "\x01\x00"} {
		d := open(t, tr, transport.Socket{Pattern: transport.Dealer, Endpoint: router.Endpoint(), Identity: []byte(name)})
		send(t, d, "", "ready")
		recv(t, router)
		dealers = append(dealers, d)
	}
	received := make(chan transport.Packet)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with ctx
		defer close(received)
		for {
			p, err := router.Recv(ctx)
			if err != nil {
				return
			}
			received <- p
		}
	}()
	for i := range 24 {
		quiet := time.NewTimer(110 * time.Millisecond) // longer than what counts as silence
		for done := false; !done; {
			select {
			case <-quiet.C:
				done = true
			default:
				send(t, router, "\x00\x00", "request")
				recv(t, dealers[0])
			}
		}
		send(t, dealers[1], "", "hello")
		// Then nobody sends any more: of the bursts of different length some end between
		// two questions.
		for end := time.Now().Add(time.Duration(i%12) * 100 * time.Microsecond); time.Now().Before(end); {
			send(t, router, "\x00\x00", "request")
		}
		select {
		case p := <-received:
			if string(p.Frames[0]) != "hello" {
				t.Fatalf("got %q", p.Frames)
			}
		case <-time.After(2 * time.Second):
			t.Fatal("a packet is hidden for ever")
		}
		for quiet := false; !quiet; { // take what the burst has left
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			_, err := dealers[0].Recv(ctx)
			quiet = err != nil
			cancel()
		}
	}
	cancel()
	for range received {
	}
}
