// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math"
	"unicode/utf8"
)

// value is one msgpack value, or one JSON value: a JSON object is a map with
// string keys. Order is kept, width is not.
type value struct {
	kind  kind
	code  int8    // of an extension.
	bits  uint64  // bool (0 or 1), integer, or a float's bits.
	bytes []byte  // string, bytes, extension.
	list  []value // elements; of a map, keys and values in turn.
	want  int     // elements that were announced: more than there are in a payload that was cut.
	at    int     // the first byte in the payload.
	end   int     // the byte after the last.
}

type kind uint8

const (
	null kind = iota
	boolean
	natural  // an integer from 0 on.
	negative // an integer below 0, in two's complement.
	float
	text
	bin
	extension
	array
	mapping
)

func (k kind) String() string {
	return [...]string{"nil", "bool", "int", "int", "float", "string", "bytes", "extension", "array", "map"}[k]
}

func textOf(s string) value         { return value{kind: text, bytes: []byte(s)} }
func numberOf(n int) value          { return value{kind: natural, bits: uint64(n)} }
func arrayOf(list ...value) value   { return value{kind: array, list: list} }
func objectOf(pairs ...value) value { return value{kind: mapping, list: pairs} }

func floatOf(f float64) value { return value{kind: float, bits: math.Float64bits(f)} }

func (v *value) float() float64 { return math.Float64frombits(v.bits) }

func (v *value) scalar() bool { return v.kind != array && v.kind != mapping }

// string is the text of v; empty for anything else and for nil.
func (v *value) string() string {
	if v == nil || v.kind != text {
		return ""
	}
	return string(v.bytes)
}

// get gives the value of a string key, nil where there is none.
func (v *value) get(key string) *value {
	if v.kind != mapping {
		return nil
	}
	for i := 0; i+1 < len(v.list); i += 2 {
		if k := &v.list[i]; k.kind == text && string(k.bytes) == key {
			return &v.list[i+1]
		}
	}
	return nil
}

// named reports whether v is a map that JSON can show as an object: string keys,
// each once, and the first none that has a meaning here.
func (v *value) named() bool {
	seen := map[string]bool{}
	for i := 0; i+1 < len(v.list); i += 2 {
		k := v.list[i]
		if k.kind != text || !utf8.Valid(k.bytes) || seen[string(k.bytes)] {
			return false
		}
		seen[string(k.bytes)] = true
	}
	return len(v.list) == 0 || !tags[string(v.list[0].bytes)]
}
