// SPDX-License-Identifier: Apache-2.0

// Package coordinator is the process beside data-parallel engines that vLLM
// calls DPCoordinatorProc. It hears from each engine how loaded it is and tells
// all clients, and it sees to it that engines which step together, as those of a
// mixture-of-experts model must, begin together:
//
//	clients ⇄ front         XPUB   loads and waves ⇄ first requests, new numbers of engines
//	engines ← back publish  XPUB   READY, and wakes
//	engines → back output   PULL   loads, beginnings and ends of waves
//
// Start runs a Coordinator over any transport; a launcher tells engines and
// clients its Addresses. Core is the same without sockets and clock.
//
// To vLLM's engines and clients it says what vLLM 0.32's says, message for
// message, with these differences. Each engine's steps have a clock of their
// own, so that reports of a slower engine are in order and those that go back
// are not taken. A message that vLLM's does not survive, or that is not the
// protocol's, is counted and ignored. An engine that leaves before all have come
// is waited for again. Publications come at their time even when messages never
// pause.
//
// A client that subscribes late hears the present state with the next
// publication, after Pace.Keepalive at most. Until then it believes that the
// engines are idle and asleep, which does no harm.
package coordinator
