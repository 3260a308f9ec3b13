// SPDX-License-Identifier: Apache-2.0

package transporttest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/corepipe/corepipe/transport"
)

func order(k kit) {
	const packets = 1000
	for _, r := range routes() {
		l := k.connect(r, nil)
		k.Log(r.name)
		for i := range packets {
			k.send(l.from, l.peer, "head", fmt.Sprint(i))
		}
		for i := range packets {
			k.want(l.to, l.origin, "head", fmt.Sprint(i))
		}
	}
}

func shapes(k kit) {
	many := make([]string, 300)
	for i := range many {
		many[i] = strings.Repeat("x", i)
	}
	for _, r := range routes() {
		l := k.connect(r, nil)
		k.Log(r.name)
		list := [][]string{
			{"one"}, {"one", ""}, {"", ""}, {"one", "", "three"}, {"", "two", "three", ""}, many,
			{strings.Repeat("y", 255)}, {strings.Repeat("z", 256)}, {strings.Repeat("w", 1<<16)},
		}
		if r.to != transport.XPub { // where it would be no subscription, yet close to one
			list = append(list, []string{""}, []string{"\x00"}, []string{"\x01\x00"})
		}
		for _, frames := range list {
			k.send(l.from, l.peer, frames...)
		}
		for _, frames := range list {
			k.want(l.to, l.origin, frames...)
		}
	}
}

func large(k kit) {
	big := strings.Repeat("0123456789abcdef", 1<<20)
	for _, r := range routes()[:3] {
		l := k.connect(r, nil)
		k.Log(r.name)
		k.send(l.from, l.peer, "head", big, "tail")
		k.want(l.to, l.origin, "head", big, "tail")
	}
}

// ownership has the sender write over its frames after Send, and the receiver
// over its own, beyond their length too.
func ownership(k kit) {
	const packets = 200
	for _, r := range routes() {
		l := k.connect(r, nil)
		k.Log(r.name)
		list := make([][]byte, 2)
		a, b := make([]byte, 64), make([]byte, 4096)
		fill := func(i int) {
			list[0], list[1] = a, b
			for j := range a {
				a[j] = byte(2 + i%100)
			}
			for j := range b {
				b[j] = byte(3 + i%100)
			}
		}
		for i := range packets {
			fill(i)
			if err := l.from.Send(transport.Packet{Peer: l.peer, Frames: list, Shared: 2}); err != nil {
				k.Fatalf("send: %v", err)
			}
			fill(i + 50)
			list[0], list[1] = nil, nil
		}
		var kept []transport.Packet
		for i := range packets {
			p := k.recv(l.to)
			fill(i)
			if err := same(p, transport.Packet{Peer: l.origin, Frames: list}); err != nil {
				k.Fatalf("packet %d after the sender used its frames again: %v", i, err)
			}
			if p.Shared != len(p.Frames) {
				k.Fatalf("received Shared %d of %d frames, none was", p.Shared, len(p.Frames))
			}
			_ = append(p.Frames[0], "spill over the next frame"...)
			clear(p.Frames[0])
			kept = append(kept, p)
		}
		for i, p := range kept {
			fill(i)
			if !bytes.Equal(p.Frames[1], b) {
				k.Fatalf("packet %d was changed after it was received", i)
			}
		}
	}
}

func shared(k kit) {
	tensor := bytes.Repeat([]byte("tensor"), 1000)
	for _, r := range routes() {
		l := k.connect(r, nil)
		k.Log(r.name)
		head := []byte("head 0")
		for i := range 3 {
			head[5] = byte('0' + i)
			p := transport.Packet{Peer: l.peer, Frames: [][]byte{head, tensor, tensor[:10]}, Shared: 1}
			if err := l.from.Send(p); err != nil {
				k.Fatalf("send: %v", err)
			}
		}
		for i := range 3 {
			p := k.recv(l.to)
			want := packet(l.origin, fmt.Sprintf("head %d", i), string(tensor), string(tensor[:10]))
			if err := same(p, want); err != nil {
				k.Fatal(err)
			}
			if p.Shared != 1 && p.Shared != 3 {
				k.Fatalf("received Shared %d: neither the sender's 1 nor 3, all private", p.Shared)
			}
			clear(p.Frames[0]) // ours
		}
		if !bytes.Equal(tensor, bytes.Repeat([]byte("tensor"), 1000)) {
			k.Fatal("a shared frame was written to")
		}
	}
}
