// SPDX-License-Identifier: Apache-2.0

package codec

import "sync"

// Layout is what an engine that said r of itself speaks, or nil when r does not
// tell. An engine names its release since 0.23.0 (vLLM: vllm_version). Before,
// the keys tell: a dtype since 0.22.0, any key at all since 0.20.0. The three
// layouts from 0.20.0 to 0.21.0 look alike; their engines get one that has what
// they share, which is a request's first ten fields. An empty ready message, a
// nil r, is older and may be any layout.
func (r *Ready) Layout() *Layout {
	release := "0.22.0"
	switch {
	case r == nil:
		return nil
	case r.Version != "":
		release = r.Version
	case r.DType == "":
		return shared020()
	}
	l, err := LayoutOf(release)
	if err != nil {
		return nil
	}
	return l
}

// shared020 is what 0.20.0 to 0.21.0 read alike: an engine takes a request that
// is cut short for one whose other fields have their defaults.
var shared020 = sync.OnceValue(func() *Layout {
	oldest, err := LayoutOf("0.20.0")
	if err != nil {
		panic(err) // it is in the table
	}
	newest, _ := LayoutOf("0.21.0")
	l := *oldest
	n := 0
	for n < len(l.request) && n < len(newest.request) && l.request[n] == newest.request[n] {
		n++
	}
	l.request, l.usual = l.request[:n], [4]string{}
	return &l
})

// Older reports whether l is of earlier releases than m.
func (l *Layout) Older(m *Layout) bool {
	return older(l.version, m.version)
}
