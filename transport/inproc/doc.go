// SPDX-License-Identifier: Apache-2.0

// Package inproc moves packets in memory, with the behaviour that the pipeline
// knows from ZeroMQ and with switches for faults. A Network takes any address
// that transport/zmq takes, so a program runs in memory when its Transport is
// exchanged and nothing else; and it runs inside testing/synctest, where delays
// cost no time.
//
// A small packet costs well under a microsecond from Send to Recv, a copy of the
// frames before Packet.Shared, and two allocations. No connection has a
// goroutine. Queues hold what was sent until it is received; SendQueue bounds
// them, otherwise memory does.
//
// What a broken connection loses: packets that a fault holds in transit. What
// reached the receiver's queue can still be received, and what a connected
// dealer or push sends meanwhile waits for the next listener.
package inproc
