// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// Tracker is what a policy implements to follow requests after their choice. The
// route stage alone calls it, one call at a time and never beside Pick, so that
// no lock is needed. A policy whose Tracker is never called still chooses, by
// what the engines' snapshot says.
type Tracker interface {
	// Routed says that r is on its way to engine e: after the Pick that chose e, or
	// alone when a pin did. It is called once a request, not again for a further
	// chunk of a live one. r.Slot is r's until the event that ends it.
	Routed(r Request, e Engine)
	// Observe says what has happened since the last call, in order, before the next
	// Pick. The slice is reused.
	Observe(events []Event)
}

// TrackerOf is p as a Tracker, or nil when neither p nor what it wraps follows
// requests, so that there is nothing to tell.
func TrackerOf(p Policy) Tracker {
	switch l := p.(type) {
	case *LateInteraction:
		if TrackerOf(l.next()) == nil {
			return nil
		}
	case *Weighted:
		if TrackerOf(l.next()) == nil {
			return nil
		}
	}
	t, _ := p.(Tracker)
	return t
}

// Event is something that happened to a routed request, or to an engine.
type Event struct {
	Kind   Kind
	Rank   int           // of the engine
	Slot   int           // of the request; not for Gone
	Prompt int           // the request's prompt length in tokens
	Tokens int           // output tokens so far; at the end, in all
	At     time.Duration // when, by the clock of Request.Now
}

// Kind is what an Event is about.
type Kind uint8

// The kinds. Each routed request gets exactly one of Finished and Aborted, and
// its slot is free then. A First may be left out when it comes with the end.
const (
	First    Kind = iota // the first output: the prompt has been processed
	Finished             // the engine has finished the answer
	Aborted              // ended in any other way: abort, error, reader gone, engine dead
	Gone                 // the engine died or started anew, and its caches are lost; its requests were Aborted before
)

// bound is how large a rank or slot may be, so that a wrong one costs no memory.
const bound = 1 << 20

// grown is s with index i in it, which is at least 0 and below bound.
func grown[T any](s []T, i int) []T {
	for len(s) <= i {
		var zero T
		s = append(s, zero)
	}
	return s
}

// usable says whether i may be an index.
func usable(i int) bool { return i >= 0 && i < bound }

// report passes fresh load on to a wrapped policy.
func report(next Policy, engines []Engine) {
	if n, ok := next.(Reporter); ok {
		n.Reported(engines)
	}
}

// routed passes a choice on to a wrapped policy.
func routed(next Policy, r Request, e Engine) {
	if n, ok := next.(Tracker); ok {
		n.Routed(r, e)
	}
}

// observe passes events on to a wrapped policy.
func observe(next Policy, events []Event) {
	if n, ok := next.(Tracker); ok {
		n.Observe(events)
	}
}
