// SPDX-License-Identifier: Apache-2.0

package codec

import "encoding/binary"

// sampling appends the map of the keys that differ from vLLM's defaults. The header is map16 whatever the number, as msgspec
// writes it, so the count can be filled in at the end.
func (e *encoder) sampling(s *SamplingParams) {
	if s == nil {
		e.b = append(e.b, mNil)
		return
	}
	head := len(e.b) + 1
	b, numbers := appendNumbers(append(e.b, mMap16, 0, 0), s)
	b, limits := appendLimits(b, s, e.knows(fOwnEosTokenID))
	e.b = b
	n := numbers + limits
	if s.rare() {
		n += e.rare(s)
	}
	binary.BigEndian.PutUint16(e.b[head:], uint16(n))
}

// The helpers append a key and its value unless it is the default, and give the
// number of keys they appended.

func (e *encoder) keyInt(key string, v, standard int) int {
	if v == standard {
		return 0
	}
	e.b = appendInt(appendString(e.b, key), v)
	return 1
}

func (e *encoder) keyBool(key string, v bool) int {
	if !v {
		return 0
	}
	e.b = append(appendString(e.b, key), mTrue)
	return 1
}

// keyTrue is for keys whose default is true.
func (e *encoder) keyTrue(key string, v *bool) int {
	if v == nil || *v {
		return 0
	}
	e.b = append(appendString(e.b, key), mFalse)
	return 1
}

func (e *encoder) keyBoolPtr(key string, v *bool) int {
	if v == nil {
		return 0
	}
	e.b = appendBool(appendString(e.b, key), *v)
	return 1
}

func (e *encoder) keyIntPtr(key string, v *int) int {
	if v == nil {
		return 0
	}
	e.b = appendInt(appendString(e.b, key), *v)
	return 1
}

func (e *encoder) keyStrings(key string, v []string) int {
	if v == nil {
		return 0
	}
	e.b = appendStrings(appendString(e.b, key), v)
	return 1
}

func (e *encoder) keyTokens(key string, v []uint32) int {
	if v == nil {
		return 0
	}
	e.b = appendTokens(appendString(e.b, key), v)
	return 1
}

// keyRecord appends a dataclass; building its bindings allocates.
func (e *encoder) keyRecord(key string, r record) int {
	e.b = appendString(e.b, key)
	if e.err == nil {
		e.b, e.err = appendRecord(e.b, r)
		e.err = inField(key, e.err)
	}
	return 1
}
