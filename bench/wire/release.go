// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/corepipe/corepipe/codec"
)

// layered reports whether a kind differs from release to release.
func (k Kind) layered() bool { return k == Request || k == Outputs }

// setRelease sets the release, the form, and notes on lengths that do not fit.
func (m *Message) setRelease(release string) error {
	m.Release = release
	if release == "" {
		m.Release = codec.DefaultRelease
	}
	l, err := codec.LayoutOf(m.Release)
	if err != nil {
		return err
	}
	if m.Kind.layered() {
		if release == "" && (!fits(m.Kind, l, &m.root) || !m.decodable(l)) {
			l = m.guessRelease(l)
		}
		m.noteLengths(l)
	} else {
		m.Release = ""
	}
	m.form = formOf(m.Kind, l)
	return nil
}

// guessRelease takes the newest layout of the message's lengths in which it can
// be decoded. If there is none, l will do if it has the lengths, or else the
// newest that has.
func (m *Message) guessRelease(l *codec.Layout) *codec.Layout {
	var fitting []*codec.Layout
	best := l
	decoded := false
	for _, other := range codec.Layouts() {
		if !fits(m.Kind, other, &m.root) {
			continue
		}
		fitting = append(fitting, other)
		if m.decodable(other) || !decoded && !fits(m.Kind, l, &m.root) {
			best, decoded = other, decoded || m.decodable(other)
		}
	}
	if best != l {
		m.Release = best.Since()
		m.notes = append(m.notes, fmt.Sprintf("taken for a message of %s by its length; these have it: %s. --release says another",
			best.Since(), sinces(fitting)))
	}
	return best
}

// decodable leaves rules on values aside, which no layout can help.
func (m *Message) decodable(l *codec.Layout) bool {
	for _, o := range faults(m.Kind, l, m.payload, m.aux) {
		if _, ok := errors.AsType[*codec.DecodeError](o.err); ok {
			return false
		}
	}
	return true
}

func sinces(all []*codec.Layout) string {
	var names []string
	for _, l := range all {
		names = append(names, l.Since())
	}
	return strings.Join(names, ", ")
}

// lengths calls f with each positional struct on top of a message: the request,
// or the outputs and their rows. It stops at false.
func lengths(k Kind, v *value, f func(s codec.Struct, where string, n int) bool) {
	if v.kind != array {
		return
	}
	if k == Request {
		f(codec.StructRequest, "request", v.want)
		return
	}
	if !f(codec.StructOutputs, "outputs", v.want) || len(v.list) < 2 {
		return
	}
	for i := range v.list[1].list {
		if row := &v.list[1].list[i]; row.kind == array && !f(codec.StructOutput, fmt.Sprintf("outputs[%d]", i), row.want) {
			return
		}
	}
}

// fits reports whether all structs have the length that a layout gives them.
func fits(k Kind, l *codec.Layout, v *value) bool {
	ok := true
	lengths(k, v, func(s codec.Struct, _ string, n int) bool {
		ok = n == len(l.Fields(s))
		return ok
	})
	return ok
}

// noteLengths says of each struct's first one of another length which releases
// have that: most likely the wrong one was given.
func (m *Message) noteLengths(l *codec.Layout) {
	noted := map[codec.Struct]bool{}
	lengths(m.Kind, &m.root, func(s codec.Struct, where string, n int) bool {
		if want := len(l.Fields(s)); n != want && !noted[s] {
			noted[s] = true
			note := fmt.Sprintf("%s has %d elements, %s of %s has %d", where, n, s, m.Release, want)
			if others := withLength(s, n); len(others) > 0 {
				note += "; layouts of that length: " + sinces(others)
			}
			m.notes = append(m.notes, note)
		}
		return true
	})
}

func withLength(s codec.Struct, n int) (all []*codec.Layout) {
	for _, l := range codec.Layouts() {
		if len(l.Fields(s)) == n {
			all = append(all, l)
		}
	}
	return all
}
