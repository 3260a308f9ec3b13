// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/corepipe/corepipe/policy"
)

// all makes one of each policy, alone and in layers.
func all() map[string]policy.Policy {
	return map[string]policy.Policy{
		"least-loaded":        &policy.LeastLoaded{},
		"least-loaded-legacy": &policy.LeastLoadedLegacy{Rotate: true},
		"shortest-wait":       &policy.ShortestWait{},
		"least-tokens":        &policy.LeastTokens{},
		"power-of-two":        &policy.PowerOfTwo{},
		"round-robin":         &policy.RoundRobin{},
		"random":              &policy.Random{},
		"session":             &policy.Session{},
		"prefix":              &policy.Prefix{},
		"lora":                &policy.LoRA{},
		"late-interaction":    &policy.LateInteraction{},
		"weighted":            &policy.Weighted{},
		"weighted-turns":      &policy.Weighted{Next: &policy.RoundRobin{}},
		"weighted-chance":     &policy.Weighted{Next: &policy.Random{}},
		"layers": &policy.LateInteraction{Next: &policy.Weighted{Next: &policy.Session{Next: &policy.LoRA{
			Next: &policy.Prefix{Next: &policy.ShortestWait{}},
		}}}},
	}
}

// fleet is engines and the requests on them, and calls a policy as the route
// stage does.
type fleet struct {
	policy  policy.Policy
	engines []policy.Engine // in flight is exact; ranks are 0 to n-1
	gone    map[int]bool
	live    map[int]policy.Event // by slot
	events  []policy.Event
	now     time.Duration
}

func newFleet(p policy.Policy, n int) *fleet {
	f := &fleet{policy: p, engines: engines(n), gone: map[int]bool{}, live: map[int]policy.Event{}}
	for i := range f.engines {
		f.engines[i].Index = i
	}
	return f
}

// candidates are the engines that are not gone.
func (f *fleet) candidates() (c []policy.Engine) {
	for _, e := range f.engines {
		if !f.gone[e.Rank] {
			c = append(c, e)
		}
	}
	return c
}

// tell hands over what has happened.
func (f *fleet) tell() {
	if t, ok := f.policy.(policy.Tracker); ok {
		t.Observe(f.events)
	}
	f.events = f.events[:0]
}

// prepare gives r what the route stage gives it.
func (f *fleet) prepare(r policy.Request) policy.Request {
	for f.live[r.Slot].Prompt != 0 {
		r.Slot++
	}
	r.Now, r.Managed, r.Prompt = f.now, len(f.engines), max(len(r.Tokens), r.Prompt, 1)
	return r
}

// send routes r and returns its slot and the rank of its engine.
func (f *fleet) send(t testing.TB, r policy.Request) (slot, rank int) {
	t.Helper()
	f.tell()
	r, c := f.prepare(r), f.candidates()
	i := f.policy.Pick(r, c)
	if i < 0 || i >= len(c) {
		t.Fatalf("picked %d of %d engines", i, len(c))
	}
	f.place(r, c[i])
	return r.Slot, c[i].Rank
}

// place puts r on e, as a pin does.
func (f *fleet) place(r policy.Request, e policy.Engine) {
	if t, ok := f.policy.(policy.Tracker); ok {
		t.Routed(r, e)
	}
	f.engines[e.Rank].InFlight++
	f.live[r.Slot] = policy.Event{Rank: e.Rank, Slot: r.Slot, Prompt: r.Prompt}
}

// event notes something about a live request.
func (f *fleet) event(k policy.Kind, slot, tokens int) {
	v := f.live[slot]
	v.Kind, v.Tokens, v.At = k, tokens, f.now
	f.events = append(f.events, v)
	if k != policy.First {
		f.engines[v.Rank].InFlight--
		delete(f.live, slot)
	}
}

// serve sends r and lets it finish, a second later.
func (f *fleet) serve(t testing.TB, r policy.Request) (rank int) {
	t.Helper()
	slot, rank := f.send(t, r)
	f.now += time.Second
	f.event(policy.First, slot, 1)
	f.now += time.Second
	f.event(policy.Finished, slot, 10)
	return rank
}

// die ends an engine and all that it has.
func (f *fleet) die(rank int) {
	for _, slot := range slices.Sorted(maps.Keys(f.live)) {
		if f.live[slot].Rank == rank {
			f.event(policy.Aborted, slot, 0)
		}
	}
	f.gone[rank] = true
	f.events = append(f.events, policy.Event{Kind: policy.Gone, Rank: rank, At: f.now})
}

// outstanding is how many requests each engine has.
func (f *fleet) outstanding() (n []int) {
	for _, e := range f.engines {
		n = append(n, e.InFlight)
	}
	return n
}

// prompt is n tokens that begin with a number of its own.
func prompt(kind, n int) []uint32 {
	t := make([]uint32, n)
	for i := range t {
		t[i] = uint32(kind*100_003 + i)
	}
	return t
}
