// SPDX-License-Identifier: Apache-2.0

// Package transporttest holds an implementation of transport.Transport to the
// contract: order, ownership of memory, wake-ups under load, Close from
// anywhere, unknown and changing peers, limits, and nothing left behind. Call
// Run from a test:
//
//	func TestConformance(t *testing.T) {
//		transporttest.Run(t, func(t testing.TB) transporttest.Harness {
//			return transporttest.Harness{
//				Transport: new(mine.Transport),
//				Address:   func(testing.TB) string { return "tcp://127.0.0.1:0" },
//			}
//		})
//	}
//
// A run takes some seconds. It waits for conditions and sleeps nowhere; where
// something must not happen it looks at what came after.
package transporttest

import (
	"testing"
	"time"

	"github.com/corepipe/corepipe/transport"
)

// Harness is a transport under test. Only Transport and Address are required.
type Harness struct {
	Transport transport.Transport
	// Address returns one that can be bound now. The suite dials the Conn's Endpoint.
	Address func(t testing.TB) string
	// Messages is how many go each way in the tests that look for lost wake-ups.
	// 0 is 200,000, or a tenth of that with the race detector or -short.
	Messages int
	// Patience is how long nothing may happen before the suite calls it a
	// failure. 0 is 10 seconds.
	Patience time.Duration
	// NoReconnect says that connected sockets do not find a listener that is
	// opened again, and NoFrameLimit that a receiver does not know MaxFrame. Both
	// break the contract; those cases are then skipped.
	NoReconnect, NoFrameLimit bool
}

// Case is one point of the contract.
type Case struct {
	Name string
	Run  func(t testing.TB, h Harness)
}

// Run runs every case in a subtest. open is called once for each and gives a
// transport that no other case uses; what it opens, it closes in t.Cleanup.
func Run(t *testing.T, open func(t testing.TB) Harness) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, open(t)) })
	}
}

// Cases lists them, for those who run a part.
func Cases() []Case {
	list := []struct {
		name string
		run  func(k kit)
	}{
		{"packets arrive whole and in order", order},
		{"frames of every shape arrive as sent", shapes},
		{"a frame of 16 MiB arrives as sent", large},
		{"frames before Shared belong to the receiver", ownership},
		{"frames from Shared on arrive by content", shared},
		{"no wake-up is lost between router and dealer", wakeRouter},
		{"no wake-up is lost between xpub and xsub", wakePub},
		{"no wake-up is lost between push and pull", wakePush},
		{"no wake-up is lost in request and reply", wakeReply},
		{"close ends a waiting receive", closeWaiting},
		{"close is safe against senders and receivers", closeRacing},
		{"nothing works after close", closeAfter},
		{"a done context ends a receive and not the connection", contextDone},
		{"an unknown peer is unreachable and costs nobody else", unknownPeer},
		{"a peer that left becomes unreachable", gonePeer},
		{"with handover a newcomer takes the identity", takeover},
		{"without handover a newcomer is ignored", noTakeover},
		{"identities of any bytes work and others are made up", identities},
		{"many peers are told apart", manyPeers},
		{"many pushes reach a pull each in its order", manyPushes},
		{"a bound push deals its packets out", boundPush},
		{"subscriptions and their ends reach the xpub", subscriptions},
		{"topics are prefixes of the first frame", topics},
		{"a connection may come before its listener", connectFirst},
		{"connected sockets find a listener that came back", rebind},
		{"a closed address can be bound again at once", bindAgain},
		{"an address is bound once", bindTwice},
		{"bad sockets are refused", refused},
		{"a full queue is an error and loses nothing", sendQueue},
		{"a bound sender without peers is full", boundWithoutPeers},
		{"a frame over the limit is not sent", tooLarge},
		{"a peer that sends too large a frame is cut off", cutOff},
		{"nothing is left behind", leftovers},
	}
	cases := make([]Case, len(list))
	for i, c := range list {
		cases[i] = Case{c.name, func(t testing.TB, h Harness) { c.run(newKit(t, h)) }}
	}
	return cases
}
