// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/corepipe/corepipe/policy"
)

// A small simulator in virtual time, to compare policies: engines that work in
// steps, a client whose own counts are exact and whose reports are old.

type simRequest struct {
	q            policy.Request
	arrived      time.Duration
	answer, done int
	prefill      int
	engine       *simEngine
}

type simEngine struct {
	rank, inFlight   int
	slow             float64
	waiting, running []*simRequest
	busy             bool
	cached           []uint32 // prefixes, the latest last
	outstanding      float64  // integral over time
	since            time.Duration
	row              policy.Engine // the last report
}

type happening struct {
	at time.Duration
	n  int
	do func()
}
type agenda []happening

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].n < a[j].n
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(happening)) }
func (a *agenda) Pop() any {
	o := *a
	x := o[len(o)-1]
	*a = o[:len(o)-1]
	return x
}

type sim struct {
	world
	policy        policy.Policy
	rand          *rand.Rand
	agenda        agenda
	n             int
	now           time.Duration
	engines       []*simEngine
	events        []policy.Event
	free          []int
	slots         int
	left          int
	reported      bool
	prompts, hits float64
	out           result
}

func (w world) run(p policy.Policy) result {
	s := &sim{world: w, policy: p, rand: rand.New(rand.NewPCG(w.Seed, 1)), left: w.Requests}
	for i := range w.Engines {
		e := &simEngine{rank: i, slow: 1}
		if w.Slow != nil {
			e.slow = w.Slow(i)
		}
		e.row.Rank, e.row.Index = i, i
		s.engines = append(s.engines, e)
	}
	s.arrivals()
	if w.Report > 0 {
		s.in(w.Report, s.report)
	}
	if w.Dies > 0 {
		s.in(w.Dies, s.die)
	}
	for len(s.agenda) > 0 && s.left > 0 {
		h := heap.Pop(&s.agenda).(happening)
		s.now = h.at
		h.do()
	}
	return s.finish()
}

func (s *sim) finish() result {
	slices.Sort(s.out.First)
	slices.Sort(s.out.End)
	s.out.Hits = s.hits / s.prompts
	most, sum := 0.0, 0.0
	for _, e := range s.engines {
		e.count(s.now, 0)
		most, sum = max(most, e.outstanding), sum+e.outstanding
		s.out.Left += e.inFlight
	}
	s.out.MaxMean = most / (sum / float64(len(s.engines)))
	return s.out
}

func (s *sim) in(d time.Duration, do func()) {
	s.n++
	heap.Push(&s.agenda, happening{s.now + d, s.n, do})
}

func (s *sim) arrivals() {
	at := 0.0
	for i := 0; i < s.Requests; {
		n := max(s.Burst, 1)
		at += s.rand.ExpFloat64() * float64(n) / s.Rate
		for range min(n, s.Requests-i) {
			i++
			r := &simRequest{answer: s.Answer(s.rand)}
			tokens := s.tokens()
			r.q = policy.Request{Tokens: tokens, Prompt: len(tokens), MaxTokens: 4096}
			s.in(time.Duration(at*float64(time.Second)), func() { s.arrive(r) })
		}
	}
}

// tokens are a prompt: a shared prefix, if there are any, the popular ones more
// often, and then what no other prompt has. A prefix is known by its first token.
func (s *sim) tokens() (t []uint32) {
	if s.Prefixes > 0 {
		kind := uint32(s.rand.ExpFloat64()*float64(s.Prefixes)/4) % uint32(s.Prefixes)
		for k := range s.PrefixTokens {
			t = append(t, kind<<12|uint32(k))
		}
	}
	for range s.Prompt(s.rand) {
		t = append(t, s.rand.Uint32()|1<<31)
	}
	return t
}

func (s *sim) arrive(r *simRequest) {
	if r.arrived == 0 {
		r.arrived = s.now
	}
	var rows []policy.Engine
	for _, e := range s.engines {
		if e.slow == 0 {
			continue
		}
		row := e.row
		row.InFlight, row.Stale = e.inFlight, s.Report == 0
		rows = append(rows, row)
	}
	if rep, ok := s.policy.(policy.Reporter); ok && s.reported {
		rep.Reported(rows)
	}
	s.reported = false
	t, _ := s.policy.(policy.Tracker)
	if t != nil {
		t.Observe(s.events)
	}
	s.events = s.events[:0]
	r.q.Now, r.q.Slot, r.q.Managed = s.now, s.slot(), len(s.engines)
	i := s.policy.Pick(r.q, rows)
	e := s.engines[rows[i].Rank]
	if t != nil {
		t.Routed(r.q, rows[i])
	}
	r.engine = e
	e.count(s.now, 1)
	e.waiting = append(e.waiting, r)
	s.step(e)
}

func (s *sim) slot() int {
	if n := len(s.free); n > 0 {
		x := s.free[n-1]
		s.free = s.free[:n-1]
		return x
	}
	s.slots++
	return s.slots - 1
}

// count notes a change of what is in flight.
func (e *simEngine) count(now time.Duration, d int) {
	e.outstanding += float64(e.inFlight) * (now - e.since).Seconds()
	e.since = now
	e.inFlight += d
}

func (s *sim) step(e *simEngine) {
	if e.busy || e.slow == 0 || len(e.waiting)+len(e.running) == 0 {
		return
	}
	e.busy = true
	for len(e.waiting) > 0 && (s.Batch == 0 || len(e.running) < s.Batch) {
		r := e.waiting[0]
		e.waiting = e.waiting[1:]
		r.prefill = r.q.Prompt
		if f := r.q.Tokens[0]; f < 1<<31 {
			if i := slices.Index(e.cached, f>>12); i >= 0 {
				r.prefill -= s.PrefixTokens
				s.hits += float64(s.PrefixTokens)
				e.cached = slices.Delete(e.cached, i, i+1)
			}
			e.cached = append(e.cached, f>>12)
			if s.CachedPrefixes > 0 && len(e.cached) > s.CachedPrefixes {
				e.cached = e.cached[1:]
			}
		}
		s.prompts += float64(r.q.Prompt)
		e.running = append(e.running, r)
	}
	room := s.Chunk
	if room == 0 {
		room = math.MaxInt
	}
	took, decoding := s.Step, 0
	var get []*simRequest
	for _, r := range e.running {
		n := min(r.prefill, room)
		r.prefill -= n
		room -= n
		took += time.Duration(n) * s.PromptToken
		if r.prefill == 0 {
			decoding++
			get = append(get, r)
		}
	}
	took += time.Duration(decoding) * s.Running
	s.in(time.Duration(float64(took)*e.slow), func() { s.stepped(e, get) })
}

func (s *sim) stepped(e *simEngine, get []*simRequest) {
	if e.slow == 0 {
		return
	}
	e.busy = false
	for _, r := range get {
		r.done++
		if r.done == 1 {
			s.out.First = append(s.out.First, s.now-r.arrived)
			s.event(policy.First, r)
		}
		if r.done >= r.answer {
			s.out.End = append(s.out.End, s.now-r.arrived)
			e.running = slices.DeleteFunc(e.running, func(x *simRequest) bool { return x == r })
			s.end(policy.Finished, r)
		}
	}
	s.step(e)
}

func (s *sim) event(k policy.Kind, r *simRequest) {
	s.events = append(s.events, policy.Event{Kind: k, Rank: r.engine.rank, Slot: r.q.Slot, Prompt: r.q.Prompt, Tokens: r.done, At: s.now})
}

func (s *sim) end(k policy.Kind, r *simRequest) {
	s.event(k, r)
	s.free = append([]int{r.q.Slot}, s.free...)
	r.engine.count(s.now, -1)
	s.left--
}

func (s *sim) report() {
	for _, e := range s.engines {
		e.row.Waiting, e.row.Running = len(e.waiting), len(e.running)
	}
	s.reported = true
	s.in(s.Report, s.report)
}

// die ends engine 0 and all that it has.
func (s *sim) die() {
	e := s.engines[0]
	for _, r := range append(e.waiting, e.running...) {
		s.end(policy.Aborted, r)
	}
	e.slow, e.waiting, e.running = 0, nil, nil
	s.events = append(s.events, policy.Event{Kind: policy.Gone, Rank: 0, At: s.now})
}
