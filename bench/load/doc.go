// SPDX-License-Identifier: Apache-2.0

// Package load puts a closed loop of generation requests on anything that takes
// them, a pipeline.Client above all, and measures what comes back. It is what
// the bench command runs, for use in benchmarks of one's own.
//
// A closed loop keeps a fixed number of requests live: each slot submits, reads
// its stream to the end and submits the next. So the load follows what the
// engines can do, and a slow answer delays the requests behind it.
//
// All requests are alike: greedy, ignoring the end-of-sequence token, with a
// pseudo-random prompt, and as many output tokens as were asked for, no more and
// no less.
package load
