// SPDX-License-Identifier: Apache-2.0

package transporttest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/corepipe/corepipe/transport"
)

// rank is the identity of the engine with that rank.
func rank(i int) []byte { return binary.LittleEndian.AppendUint16(nil, uint16(i)) }

// dealer connects one and makes it known to the router.
func (k kit) dealer(router transport.Conn, id []byte) transport.Conn {
	k.Helper()
	d := k.dial(router, transport.Socket{Pattern: transport.Dealer, Identity: id})
	k.send(d, "", "ready")
	k.want(router, string(id), "ready")
	return d
}

// unknownPeer looks for the trap that the frame after a refused identity is
// taken for an identity itself.
func unknownPeer(k kit) {
	router := k.bind(transport.Socket{Pattern: transport.Router})
	k.is(router.Send(packet("A", "x")), transport.ErrUnreachable, "send before anybody connected")
	a, b := k.dealer(router, []byte("A")), k.dealer(router, []byte("B"))
	for i := range 20 {
		k.is(router.Send(packet("nobody", "A", "payload")), transport.ErrUnreachable, "send to nobody")
		k.is(router.Send(packet("", "B", "payload")), transport.ErrUnreachable, "send to an empty identity")
		k.send(router, "B", fmt.Sprint(i), "to B")
		k.send(router, "A", fmt.Sprint(i), "to A")
	}
	for i := range 20 {
		k.want(a, "", fmt.Sprint(i), "to A")
		k.want(b, "", fmt.Sprint(i), "to B")
	}
}

// gonePeer has handover on: libzmq lets go of an identity a little later than
// it calls the peer unreachable, and would ignore who comes back in between.
func gonePeer(k kit) {
	router := k.bind(transport.Socket{Pattern: transport.Router, Handover: true})
	d, other := k.dealer(router, rank(0)), k.dealer(router, rank(1))
	k.close(d)
	k.eventually("the closed peer is unreachable", func() bool {
		return errors.Is(router.Send(packet(string(rank(0)), "x")), transport.ErrUnreachable)
	})
	k.send(router, string(rank(1)), "still here")
	k.want(other, "", "still here")
	again := k.dealer(router, rank(0))
	k.send(router, string(rank(0)), "welcome back")
	k.want(again, "", "welcome back")
}

func takeover(k kit) {
	router := k.bind(transport.Socket{Pattern: transport.Router, Handover: true})
	k.dealer(router, rank(1)) // stays open
	newcomer := k.dealer(router, rank(1))
	for i := range 20 {
		k.send(router, string(rank(1)), fmt.Sprint(i))
	}
	for i := range 20 {
		k.want(newcomer, "", fmt.Sprint(i))
	}
}

func noTakeover(k kit) {
	router := k.bind(transport.Socket{Pattern: transport.Router})
	old := k.dealer(router, rank(1))
	newcomer := k.dial(router, transport.Socket{Pattern: transport.Dealer, Identity: rank(1)})
	k.send(newcomer, "", "ignore me")
	// A third peer that comes later shows that the router had its chance.
	k.dealer(router, rank(2))
	for i := range 20 {
		k.send(router, string(rank(1)), fmt.Sprint(i))
		k.want(old, "", fmt.Sprint(i))
		k.send(old, "", "still me")
		k.want(router, string(rank(1)), "still me")
	}
}

func identities(k kit) {
	router := k.bind(transport.Socket{Pattern: transport.Router})
	for _, id := range []string{"\x00\x00", "\x00", "\x00\x01", "\xff\xff", strings.Repeat("i", 255)} {
		d := k.dealer(router, []byte(id))
		k.send(router, id, "hello", id)
		k.want(d, "", "hello", id)
	}
	seen := map[string]bool{}
	for range 3 {
		d := k.dial(router, transport.Socket{Pattern: transport.Dealer})
		k.send(d, "", "who am I")
		p := k.recv(router)
		if p.Peer == "" || seen[p.Peer] {
			k.Fatalf("made-up identity %q is empty or not new", p.Peer)
		}
		seen[p.Peer] = true
		k.send(router, p.Peer, "you")
		k.want(d, "", "you")
	}
}

func manyPeers(k kit) {
	const peers, each = 100, 20
	router := k.bind(transport.Socket{Pattern: transport.Router})
	var dealers []transport.Conn
	for i := range peers {
		dealers = append(dealers, k.dealer(router, rank(i)))
	}
	for i := range each {
		for j, d := range dealers {
			k.send(d, "", fmt.Sprint(j), fmt.Sprint(i))
		}
	}
	next := map[string]int{}
	for range peers * each {
		p := k.recv(router)
		j := int(binary.LittleEndian.Uint16([]byte(p.Peer)))
		if err := same(p, packet(p.Peer, fmt.Sprint(j), fmt.Sprint(next[p.Peer]))); err != nil {
			k.Fatal(err)
		}
		next[p.Peer]++
		k.send(router, p.Peer, "reply", p.Peer)
	}
	for j, d := range dealers {
		for range each {
			k.want(d, "", "reply", string(rank(j)))
		}
	}
}

func manyPushes(k kit) {
	const peers, each = 64, 50
	pull := k.bind(transport.Socket{Pattern: transport.Pull})
	for j := range peers {
		push := k.dial(pull, transport.Socket{Pattern: transport.Push})
		for i := range each {
			k.send(push, "", fmt.Sprint(j), fmt.Sprint(i))
		}
	}
	next := map[string]int{}
	for range peers * each {
		p := k.recv(pull)
		from := string(p.Frames[0])
		if err := same(p, packet("", from, fmt.Sprint(next[from]))); err != nil {
			k.Fatal(err)
		}
		next[from]++
	}
	if len(next) != peers {
		k.Fatalf("heard from %d peers, want %d", len(next), peers)
	}
}

// boundPush has two pulls, and every packet must reach one of them.
func boundPush(k kit) {
	const packets = 100
	push := k.bind(transport.Socket{Pattern: transport.Push})
	pulls := [2]transport.Conn{}
	for i := range pulls {
		pulls[i] = k.dial(push, transport.Socket{Pattern: transport.Pull})
	}
	heard := make(chan string, 10*packets)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	got := [2]bool{}
	ids := make(chan int, 10*packets)
	for i, c := range pulls {
		go func() {
			for {
				p, err := c.Recv(ctx)
				if err != nil {
					return
				}
				ids <- i
				heard <- string(p.Frames[0])
			}
		}()
	}
	k.eventually("both pulls take part", func() bool {
		if push.Send(packet("", "probe")) == nil {
			got[<-ids] = true
			<-heard
		}
		return got[0] && got[1]
	})
	for i := range packets {
		k.send(push, "", fmt.Sprint(i))
	}
	missing := map[string]bool{}
	for i := range packets {
		missing[fmt.Sprint(i)] = true
	}
	for range packets {
		delete(missing, <-heard)
	}
	if len(missing) > 0 {
		k.Fatalf("%d packets are missing", len(missing))
	}
}
