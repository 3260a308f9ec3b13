// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"strconv"
	"strings"
)

//go:generate go run gen/main.go

// DefaultRelease is the vLLM release assumed when nobody says another.
const DefaultRelease = "0.32.0"

// Layout says where each field stands in the positional messages of a range of
// vLLM releases. It is immutable and has no zero value of use: LayoutOf gives
// it, and two releases of one layout give the same pointer.
type Layout struct {
	since                         string
	request, output, outputs      []slot
	lora, pooling, lists, tensors []slot
	plain                         string // the bytes of an output after its tokens when it has nothing else.
	need                          int    // fields of a request that have no default.
	bareResult                    bool   // a utility result has no type beside it.
}

// field is a Python field name as a number; fieldNames has the names.
type field uint8

func (f field) String() string { return fieldNames[f] }

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
		if since, _ := parseRelease(layouts[i].since); !older(want, since) {
			return &layouts[i], nil
		}
	}
	return nil, &ReleaseError{Release: release, Reason: "older than " + layouts[0].since}
}

// Since is the first release of this layout, "0.32.0".
func (l *Layout) Since() string { return l.since }

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
