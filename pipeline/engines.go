// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/corepipe/corepipe/codec"
)

// EngineState is what the client knows of an engine's life.
type EngineState uint8

// The states, in the order in which an engine passes them.
const (
	EngineWaiting EngineState = iota // no ready message yet
	EngineReady
	EngineDead // announced, unreachable, or sending what cannot be decoded
)

func (s EngineState) String() string {
	switch s {
	case EngineWaiting:
		return "waiting"
	case EngineReady:
		return "ready"
	case EngineDead:
		return "dead"
	default:
		return fmt.Sprintf("unknown(%d)", uint8(s))
	}
}

// engine is one rank. The Table owns it from start to end; a restarted engine is
// the same value.
type engine struct {
	rank  int
	index int    // among the managed ranks
	peer  string // its identity

	mu       sync.Mutex // guards what follows; taken after Table.mu when both are
	state    EngineState
	epoch    uint64 // one more at each change of state: whom a packet was meant for
	err      error  // why it is dead
	live     map[string]*Stream
	load     codec.Load
	loadAt   time.Time // of the last report, or of the start
	reported bool      // there was a report since the route stage looked
	ready    *codec.Ready
	release  string        // as the engine or the Config says; empty when unknown
	heardAt  time.Time     // last message of any kind
	started  bool          // its handshake is done
	suspect  bool          // an engine that shares its output address said that it dies
	oldest   *codec.Layout // what its messages tell of its release, while nothing else does
	newest   *codec.Layout

	layout atomic.Pointer[codec.Layout] // set under mu
}

func newEngine(rank, index int, layout *codec.Layout, release string) *engine {
	now := time.Now()
	e := &engine{
		rank: rank, index: index, peer: codec.Identity(rank),
		live: map[string]*Stream{}, release: release, loadAt: now, heardAt: now,
	}
	e.layout.Store(layout)
	return e
}

// take makes s one of the engine's live requests, unless it has ended already,
// and says in which epoch. It fails when the engine has died meanwhile.
func (e *engine) take(s *Stream) (epoch uint64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state == EngineDead {
		return 0, e.err
	}
	s.engine.Store(e) // before released is read: see Table.release
	if !s.released.Load() {
		e.live[s.id] = s
	}
	return e.epoch, nil
}

// drop forgets s. A later request of the same id is left alone.
func (e *engine) drop(s *Stream) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live[s.id] == s {
		delete(e.live, s.id)
	}
}

// stream is the live one of id; nil when there is none.
func (e *engine) stream(id []byte) *Stream {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live[string(id)]
}

// streams are the live ones among ids.
func (e *engine) streams(ids []string) (out []*Stream) {
	if len(ids) == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range ids {
		if s := e.live[id]; s != nil {
			out = append(out, s)
		}
	}
	return out
}

// heard notes a message and its load report, and says whether it has one.
func (e *engine) heard(o *codec.Outputs) (reported bool) {
	load, ok := o.Load()
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heardAt, e.suspect = now, false
	if ok {
		e.load, e.loadAt, e.reported = load, now, true
	}
	return ok
}

// leave changes the state and returns the streams that go down with the old one.
func (e *engine) leave(to EngineState, err error) (from EngineState, lost []*Stream) {
	e.mu.Lock()
	defer e.mu.Unlock()
	from, e.state, e.err = e.state, to, err
	e.epoch++
	for _, s := range e.live {
		lost = append(lost, s)
	}
	e.load, e.loadAt = codec.Load{}, time.Now()
	return from, lost
}

// EngineInfo is what the client knows of an engine.
type EngineInfo struct {
	Rank     int
	State    EngineState
	Release  string        // vLLM version; empty when neither the engine nor Config.Release says
	InFlight int           // our requests on it
	Load     codec.Load    // last report
	Age      time.Duration // since the report, or the start when there was none
	Ready    *codec.Ready  // nil when it said nothing; read-only
	Err      error         // why it is dead
}

// death is why the engine is dead; nil when it is not.
func (e *engine) death() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state == EngineDead {
		return e.err
	}
	return nil
}

// usable says whether the engine is ready, with its handshake done if it has one.
func (e *engine) usable(handshake bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state == EngineReady && (e.started || !handshake)
}

// now is the engine's epoch.
func (e *engine) now() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.epoch
}

// is asks for the state alone.
func (e *engine) is(s EngineState) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state == s
}

func (e *engine) info() EngineInfo {
	e.mu.Lock()
	defer e.mu.Unlock()
	return EngineInfo{
		Rank: e.rank, State: e.state, Release: e.release, InFlight: len(e.live),
		Load: e.load, Age: time.Since(e.loadAt), Ready: e.ready, Err: e.err,
	}
}
