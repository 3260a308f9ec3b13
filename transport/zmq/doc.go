// SPDX-License-Identifier: Apache-2.0

// Package zmq moves packets over ZeroMQ by way of pebbe/zmq4: what vLLM's own
// processes speak. It is the only package of the module that needs cgo (and
// libzmq 4.3 or later at build time); importing it is the choice, no tag is
// needed. Without cgo the package is empty.
//
// A received message costs six calls into C and a Go allocation of its size per
// frame, and two small ones; a sent frame costs one call and libzmq's
// copy. Waiting holds no OS thread: a Conn parks in Go's poller on libzmq's own
// descriptor, and going to sleep costs one look at the socket. Beside a receiver
// that waits, a sender asks libzmq once a millisecond whether its sends have hidden
// something; see conn. The benchmarks give the times.
//
// A frame of more than 32 MiB costs about twice as much a byte as one of less: glibc
// maps the memory of libzmq's copy anew each time. MALLOC_MMAP_MAX_=0 in the environment
// takes some of that back.
//
// libzmq handles what happens to a socket inside its owner's calls: a Router
// lets go of a lost peer's identity, and an XSub repeats its subscriptions to a
// publisher that came back, only while somebody receives. So keep a goroutine
// in Recv, and set Handover where peers come back under their old identity.
//
// Addresses are tcp (IPv6 in brackets), ipc and inproc. inproc connects Conns
// of one Transport only, does not reconnect when its listener is opened again,
// and does not know MaxFrame on the receiving side; a Conn that dialled an inproc
// name nobody listens at keeps a descriptor until the Transport is closed.
package zmq
