// SPDX-License-Identifier: Apache-2.0

package transporttest

import "github.com/corepipe/corepipe/transport"

// subscriptions: each one is heard, a second one of the same topic too, and
// user messages come in between.
func subscriptions(k kit) {
	pub := k.bind(transport.Socket{Pattern: transport.XPub})
	a := k.dial(pub, transport.Socket{Pattern: transport.XSub, Identity: rank(0)})
	k.send(a, "", "\x01")
	k.want(pub, "", "\x01")
	k.send(a, "", "\x01topic")
	k.want(pub, "", "\x01topic")
	k.send(a, "", "a message")
	k.want(pub, "", "a message")
	b := k.dial(pub, transport.Socket{Pattern: transport.XSub})
	k.send(b, "", "\x01")
	k.want(pub, "", "\x01")
	k.send(b, "", "\x01topic")
	k.want(pub, "", "\x01topic")

	k.send(pub, "", "topic for both")
	k.want(a, "", "topic for both")
	k.want(b, "", "topic for both")

	k.send(a, "", "\x00topic")
	k.want(pub, "", "\x00topic")
	k.send(a, "", "\x00")
	k.want(pub, "", "\x00")
	k.send(pub, "", "topic for b alone")
	k.want(b, "", "topic for b alone")
	k.send(a, "", "\x01last")
	k.want(pub, "", "\x01last")
	k.send(pub, "", "last")
	k.want(a, "", "last") // and not what it had given up

	k.close(b) // everything it wanted ends
	ends := map[string]bool{}
	for range 2 {
		ends[string(k.recv(pub).Frames[0])] = true
	}
	if !ends["\x00"] || !ends["\x00topic"] {
		k.Fatalf("ends after a subscriber left: %v", ends)
	}
}

func topics(k kit) {
	pub := k.bind(transport.Socket{Pattern: transport.XPub})
	sub := func(topics ...string) transport.Conn {
		s := transport.Socket{Pattern: transport.Sub}
		for _, t := range topics {
			s.Topics = append(s.Topics, []byte(t))
		}
		c := k.dial(pub, s)
		for range topics {
			if p := k.recv(pub); p.Frames[0][0] != 1 {
				k.Fatalf("got %q, want a subscription", p.Frames)
			}
		}
		return c
	}
	all, some, none := sub(""), sub("kv", "load\x00"), sub()
	for _, first := range []string{"k", "kv", "kv@rank0", "load", "load\x00x", "", "end of kv", "kv end"} {
		k.send(pub, "", first, "body", "kv")
		k.want(all, "", first, "body", "kv")
	}
	for _, first := range []string{"kv", "kv@rank0", "load\x00x", "kv end"} {
		k.want(some, "", first, "body", "kv")
	}
	k.close(none)
}
