// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/corepipe/corepipe/transport"
)

// The number is that of the collection of public bug reports that this case comes from.

// A receiver has to allocate what it hands over, once. A sender allocates nothing in
// Go; the copy that libzmq keeps is in memory of its own and not counted here.
func TestX3ALargeFrameIsAllocatedByItsReceiverOnce(t *testing.T) {
	const size, n, most = 16 << 20, 8, 1.1
	for _, scheme := range []string{"ipc", "tcp"} {
		t.Run("address="+scheme, func(t *testing.T) {
			tr := newTransport(t)
			router := open(t, tr, transport.Socket{Pattern: transport.Router, Endpoint: address(t, scheme), Bind: true})
			dealer := open(t, tr, transport.Socket{Pattern: transport.Dealer, Endpoint: router.Endpoint(), Identity: []byte("d")})
			send(t, dealer, "", "hello")
			recv(t, router)
			tensor := bytes.Repeat([]byte("tensor.."), size/8)
			p := transport.Packet{Peer: "d", Frames: [][]byte{{0}, make([]byte, 1000), tensor}, Shared: 2}
			var sending, receiving uint64
			for range n {
				sending += allocated(func() {
					if err := router.Send(p); err != nil {
						t.Fatal(err)
					}
				})
				var got transport.Packet
				receiving += allocated(func() { got = recv(t, dealer) })
				if len(got.Frames) != 3 || !bytes.Equal(got.Frames[2], tensor) {
					t.Fatal("the frame that arrived is another one")
				}
			}
			sender, receiver := float64(sending)/n/size, float64(receiving)/n/size
			t.Logf("the sender allocates %.5f times the frame, the receiver %.5f", sender, receiver)
			if sender+receiver > most {
				t.Errorf("the sender allocates %.3f times the frame, the receiver %.3f, want at most %v together", sender, receiver, most)
			}
		})
	}
}

// allocated is how many bytes of Go memory f takes, garbage or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
