// SPDX-License-Identifier: Apache-2.0

package transporttest

import (
	"context"
	"fmt"
	"testing"

	"github.com/corepipe/corepipe/transport"
)

// Bench times packets on their way, one sender and one receiver at once, for
// frames of 100 B, 1 KiB and 16 KiB and each kind of route, named
// pattern=…/size=…; and a request with its reply, named pattern=reply.
func Bench(b *testing.B, open func(t testing.TB) Harness) {
	for _, r := range []route{
		{"router-dealer", transport.Router, transport.Dealer, true},
		{"push-pull", transport.Push, transport.Pull, false},
		{"xpub-xsub", transport.XPub, transport.XSub, true},
	} {
		for _, size := range []int{100, 1 << 10, 16 << 10} {
			b.Run(fmt.Sprintf("pattern=%s/size=%d", r.name, size), func(b *testing.B) {
				benchFlow(b, newKit(b, open(b)), r, size)
			})
		}
	}
	b.Run("pattern=reply/size=100", func(b *testing.B) { benchReply(b, newKit(b, open(b))) })
}

// benchFlow bounds what is under way, as the pipeline does: by credit, because a
// sender that spins on ErrFull takes the Conn from its receiver.
func benchFlow(b *testing.B, k kit, r route, size int) {
	l := k.connect(r, nil)
	credit := make(chan struct{}, 1000)
	frame := make([]byte, size)
	frame[0] = 'x'
	b.SetBytes(int64(size))
	b.ReportAllocs()
	failed := make(chan error, 1)
	b.ResetTimer()
	go func() {
		p := transport.Packet{Peer: l.peer, Frames: [][]byte{frame}, Shared: 1}
		for range b.N {
			credit <- struct{}{}
			if err := l.from.Send(p); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	for range b.N {
		if _, err := l.to.Recv(context.Background()); err != nil {
			b.Fatal(err)
		}
		<-credit
	}
	if err := <-failed; err != nil {
		b.Fatal(err)
	}
}

func benchReply(b *testing.B, k kit) {
	l := k.connect(route{"", transport.Router, transport.Dealer, true}, nil)
	p := transport.Packet{Peer: l.peer, Frames: [][]byte{make([]byte, 100)}, Shared: 1}
	b.ReportAllocs()
	go func() {
		for {
			q, err := l.to.Recv(context.Background())
			if err != nil || l.to.Send(q) != nil {
				return
			}
		}
	}()
	for b.Loop() {
		if err := l.from.Send(p); err != nil {
			b.Fatal(err)
		}
		if _, err := l.from.Recv(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
