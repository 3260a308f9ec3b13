// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/policy"
)

// Table is the state that the stages share: the engines, the live requests and
// the calls under way. Load travels through it from dispatch back to route, so
// that the channels form no cycle. All methods may be called from any goroutine.
type Table struct {
	engines []*engine // by managed index; fixed
	ranks   map[int]*engine
	config  TableConfig
	buffers sync.Pool // of *buffer, from encode to send
	parcels parcels   // from decode to dispatch or the raw feed

	spoken atomic.Pointer[spoken] // what the engines speak; never nil
	limit  atomic.Int64           // the smallest max_model_len seen; 0 when none was
	counts counters

	coordination coordination
	tracking     tracking
	feed         atomic.Pointer[feed]    // of Client.Outputs; nil without
	readers      atomic.Int64            // live requests that are not raw
	chooser      atomic.Pointer[chooser] // of the route stage; nil before it runs
	start        time.Time               // zero of the policies' clock

	queue *queue // where commands go; the Client's source reads it

	mu       sync.Mutex // guards what follows; before any engine.mu
	requests map[string]*Stream
	calls    map[codec.CallID]*Call
	nextCall uint64
	changed  chan struct{} // closed at the next change of an engine or end of a request; nil when nobody waits
	broken   error         // why nothing goes on; set once
	rejected error         // the first engine that could not be taken in
	senders  int           // Send stages that have not returned
}

// TableConfig is what a Table needs; a Client makes it from its Config.
type TableConfig struct {
	Ranks    []int  // the managed ranks, as many as there are engines
	Release  string // vLLM release of engines that do not say; see Config.Release
	Lockstep bool   // the engines are one group: one death ends all (MoE)
	// StaleAfter is the age at which a load report is no longer used. Default 10 s.
	StaleAfter time.Duration
	// ClientIndex is stamped on requests and calls: the output socket that answers.
	ClientIndex int
	ClientCount int // front ends over the same engines; 0 and 1 are this one alone
	Observer    any // see Observer
	// StreamInterval is Config's.
	StreamInterval int

	layout *codec.Layout // of Release
}

// DefaultStaleAfter is TableConfig.StaleAfter's default.
const DefaultStaleAfter = 10 * time.Second

// NewTable makes a Table for the given ranks, all waiting for their engine.
func NewTable(c TableConfig) (*Table, error) {
	c.StaleAfter = cmp.Or(c.StaleAfter, DefaultStaleAfter)
	layout, err := codec.LayoutOf(cmp.Or(c.Release, codec.DefaultRelease))
	if err != nil {
		return nil, &ConfigError{"Release", err.Error()}
	}
	t := &Table{
		ranks: map[int]*engine{}, config: c, queue: newQueue(),
		requests: map[string]*Stream{}, calls: map[codec.CallID]*Call{},
		coordination: coordination{lockstep: c.Lockstep}, start: time.Now(),
	}
	t.config.layout = layout
	t.spoken.Store(&spoken{layout})
	for i, rank := range c.Ranks {
		if rank < 0 || rank > codec.MaxRank {
			return nil, &ConfigError{"FirstRank", rankRule}
		}
		if t.ranks[rank] != nil {
			return nil, &ConfigError{"Ranks", "each rank once"}
		}
		e := newEngine(rank, i, layout, c.Release)
		t.engines, t.ranks[rank] = append(t.engines, e), e
	}
	return t, nil
}

// Commands is the source of what Admit's callers, aborts and calls have queued.
func (t *Table) Commands(ctx context.Context, out chan<- Command) error {
	return t.queue.source(ctx, out)
}

// Admit makes r a live request: its id is taken until its stream ends. The Add is
// for the caller to bring into a pipeline; a Client does so in Submit. A
// resumable request's id may be admitted again (a further chunk of one session)
// and keeps its stream. Errors: ErrDuplicate, or why the pipeline ended.
func (t *Table) Admit(r *codec.Request) (*Add, *Stream, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, err := t.admit(r, false, nil)
	if err != nil {
		return nil, nil, err
	}
	return a, a.stream, nil
}

// admit is Admit under mu; released is called when the stream ends. A raw one has
// no reader.
func (t *Table) admit(r *codec.Request, raw bool, released func()) (*Add, error) {
	if t.broken != nil {
		return nil, t.broken
	}
	if s := t.requests[r.ID]; s != nil {
		if !r.Resumable {
			return nil, ErrDuplicate
		}
		return &Add{Request: r, stream: s, again: true}, nil
	}
	s := &Stream{id: r.ID, table: t, raw: raw, onRelease: released}
	s.interval = t.config.StreamInterval
	if p := r.Sampling; p != nil && p.StreamInterval != nil {
		s.interval = *p.StreamInterval
	}
	if s.kick.L = &s.mu; !raw {
		t.readers.Add(1)
	}
	t.requests[r.ID] = s
	s.add = Add{Request: r, stream: s}
	return &s.add, nil
}

// submit admits and queues in one step, so that no abort finds the request
// before it is queued. The request has been checked.
func (t *Table) submit(r *codec.Request, raw bool, released func()) (*Add, error) {
	t.mu.Lock()
	a, err := t.admit(r, raw, released)
	if err == nil {
		a.checked = r
		t.queue.add(a)
	}
	t.mu.Unlock()
	if err == nil {
		t.queue.push()
	}
	return a, err
}

// chunk submits r if it continues a live session.
func (t *Table) chunk(r *codec.Request) (*Stream, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !r.Resumable || t.requests[r.ID] == nil {
		return nil, false
	}
	a, err := t.admit(r, false, nil)
	if err != nil {
		return nil, false
	}
	a.checked = r
	t.queue.put(a)
	return a.stream, true
}

// release takes s out of the Table, other than by a finish of its engine's; only
// the first call returns true.
func (t *Table) release(s *Stream) bool { return t.releaseAs(s, policy.Aborted) }

func (t *Table) releaseAs(s *Stream, k policy.Kind) bool {
	t.mu.Lock()
	if s.released.Load() {
		t.mu.Unlock()
		return false
	}
	s.released.Store(true)
	delete(t.requests, s.id)
	if !s.raw {
		t.readers.Add(-1)
	}
	t.notify()
	t.mu.Unlock()
	if e := s.engine.Load(); e != nil {
		e.drop(s)
	}
	t.over(s, k)
	if s.onRelease != nil {
		s.onRelease()
	}
	return true
}

// notify wakes who waits for a change. Table.mu is held.
func (t *Table) notify() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// wait returns when done does, which is called under Table.mu at every change.
func (t *Table) wait(ctx context.Context, done func() bool) error {
	for {
		t.mu.Lock()
		if done() {
			t.mu.Unlock()
			return nil
		}
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Engines tells what is known of each engine, in managed order.
func (t *Table) Engines() []EngineInfo {
	out := make([]EngineInfo, len(t.engines))
	for i, e := range t.engines {
		out[i] = e.info()
	}
	return out
}
