// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"strconv"
	"strings"
)

//go:generate go run gen/main.go gen/forms.go

// DefaultRelease is the vLLM release assumed when nobody says another.
const DefaultRelease = "0.32.0"

// Layout says what a range of vLLM releases writes and reads alike: where each
// field stands in the messages by position, and which keys the others have. It
// is immutable and has no zero value of use: LayoutOf gives it, and two releases
// of one layout give the same pointer.
type Layout struct {
	since                         string
	version                       [3]int // since, in numbers.
	positions                     string // see Positions.
	request, output, outputs      []slot
	lora, pooling, lists, tensors []slot
	sampling                      fieldSet  // the keys that are known.
	stats, prefill                []string  // the keys in their order; prefill is nil where there is no such record.
	plain                         string    // the bytes of an output after its tokens when it has nothing else.
	usual                         [4]string // the bytes between the fields of a request without rare ones; see encoder.usual.
	need                          int       // fields of a request that have no default.
	reasons                       int       // the number of finish reasons.
	bareResult                    bool      // a utility result has no type beside it.
	nestedLogprobs                bool      // LogprobsLists are lists, not arrays.
}

// field is a Python field name as a number; fieldNames has the names.
type field uint8

func (f field) String() string { return fieldNames[f] }

func (s *fieldSet) has(f field) bool { return s[f>>6]>>(f&63)&1 != 0 }

// slot is one position of a struct. Zero is the byte that the field's default
// takes on the wire; all defaults take one.
type slot struct {
	field field
	zero  byte
}

// LayoutOf gives the layout of a vLLM release: "0.32.0", "v0.32.1rc1", also
// with a local part, "0.32.0+cpu". A release newer than all known gets the
// newest layout; one older than 0.9.2, or text that is no release, a
// *ReleaseError.
func LayoutOf(release string) (*Layout, error) {
	want, ok := parseRelease(release)
	if !ok {
		return nil, &ReleaseError{Release: release, Reason: "no release number"}
	}
	for i := len(layouts) - 1; i >= 0; i-- {
		if !older(want, layouts[i].version) {
			return &layouts[i], nil
		}
	}
	return nil, &ReleaseError{Release: release, Reason: "older than " + layouts[0].since}
}

// Since is the first release of this layout, "0.32.0".
func (l *Layout) Since() string { return l.since }

// Positions is the first release that has all fields in the positions of this
// layout, at or before Since: layouts also part where only keys differ.
func (l *Layout) Positions() string { return l.positions }

// before reports whether all releases of l are older than one that is the first
// of a layout.
func (l *Layout) before(major, minor, patch int) bool {
	return older(l.version, [3]int{major, minor, patch})
}

// parseRelease reads up to three numbers and ignores what follows: candidates
// and development builds have the layout of the release they become.
func parseRelease(s string) (v [3]int, ok bool) {
	s = strings.TrimPrefix(s, "v")
	for i := range v {
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		n, err := strconv.Atoi(s[:digits])
		if err != nil {
			return v, false
		}
		v[i] = n
		rest, more := strings.CutPrefix(s[digits:], ".")
		if !more || rest == "" || rest[0] < '0' || rest[0] > '9' {
			return v, i > 0
		}
		s = rest
	}
	return v, true
}

func older(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// position is where a field stands, -1 where the layout lacks it.
func position(slots []slot, f field) int {
	for i, s := range slots {
		if s.field == f {
			return i
		}
	}
	return -1
}
