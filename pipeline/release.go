// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/corepipe/corepipe/codec"
)

// ErrNoRelease says that an engine names no vLLM release, as those before 0.20.0
// do not, and that Config.Release does not either. A request in the layout of
// another release ends an engine's input thread without a word, so none is sent.
var ErrNoRelease = errors.New("names no vLLM release: set Config.Release")

// layoutFor is the layout of an engine that said r of itself, and the release it
// is known by; empty where only a range is. What an engine says of itself counts
// before Config.Release, and that before what can be concluded.
func (t *Table) layoutFor(r *codec.Ready) (*codec.Layout, string, error) {
	var said error
	if r != nil && r.Version != "" {
		l, err := codec.LayoutOf(r.Version)
		if err == nil {
			return l, r.Version, nil
		}
		said = err // a build from source may call itself "dev"
	}
	if given := t.config.Release; given != "" {
		return t.config.layout, given, nil
	}
	if said != nil {
		return nil, "", errors.Join(ErrNoRelease, said)
	}
	if l := r.Layout(); l != nil {
		return l, "", nil
	}
	return nil, "", ErrNoRelease
}

// attached is layoutFor for an engine that has said ready to somebody else: the
// answer to a call is all that it is known by.
func (t *Table) attached(e *engine) (*codec.Layout, error) {
	l := t.config.layout
	e.mu.Lock()
	oldest, newest := e.oldest, e.newest
	e.mu.Unlock()
	if oldest != nil && (l.Older(oldest) || newest.Older(l)) {
		return nil, fmt.Errorf("%w (its messages are those of %s to %s, not of %s)", ErrNoRelease, oldest.Since(), newest.Since(), l.Since())
	}
	return l, nil
}

// look notes what a message tells of the release of an engine that does not name it.
func (t *Table) look(rank int, payload []byte) {
	e := t.ranks[rank]
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.oldest != nil || e.ready != nil {
		return
	}
	if oldest, newest, ok := codec.LayoutOfOutputs(payload); ok {
		e.oldest, e.newest = oldest, newest
	}
}

// spoken are the layouts of the engines that are ready, the most common one first.
type spoken []*codec.Layout

// choose is what to encode r in before it is known where it goes: the first
// layout in which it can be said, or the first of all, which then says why not.
func (s spoken) choose(r *codec.Request) *codec.Layout {
	if i := slices.IndexFunc(s, func(l *codec.Layout) bool { return l.Holds(r) == nil }); i >= 0 {
		return s[i]
	}
	return s[0]
}

// countSpoken counts the layouts of the engines that are ready; where as many
// speak one as another, the first engine's comes first. There is always one.
func (t *Table) countSpoken() spoken {
	var s spoken
	votes := map[*codec.Layout]int{}
	for _, e := range t.engines {
		if l := e.layout.Load(); e.is(EngineReady) {
			if votes[l]++; votes[l] == 1 {
				s = append(s, l)
			}
		}
	}
	if s == nil {
		return spoken{t.config.layout}
	}
	slices.SortStableFunc(s, func(a, b *codec.Layout) int { return votes[b] - votes[a] })
	return s
}
