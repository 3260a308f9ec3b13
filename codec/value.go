// SPDX-License-Identifier: Apache-2.0

package codec

import "math"

// DecodeValue reads one value of any kind: nil, bool, int64, uint64 above that,
// float64, string, []byte for bin and for vLLM's raw bytes (aliasing b), []any,
// map[string]any, and map[any]any where a key is no string. Nesting over 64,
// extensions of other codes and trailing bytes are a *DecodeError. Memory stays
// under 80 bytes for each byte of input, whatever that is.
func DecodeValue(b []byte) (any, error) {
	c := cursor{b: b}
	v := c.any(0)
	c.end()
	return v, c.err("value", -1)
}

// any is DecodeValue's recursion, which maxDepth bounds.
func (c *cursor) any(depth int) any {
	lead := c.peek()
	switch {
	case lead == mNil:
		c.at++
		return nil
	case lead == mTrue || lead == mFalse:
		return c.bool()
	case lead == mF32 || lead == mF64:
		return c.float()
	case lead < 0x80 || lead >= 0xe0 || lead >= mU8 && lead <= mI64:
		v, negative := c.integer()
		if !negative && v > math.MaxInt64 {
			return v
		}
		return int64(v)
	case lead&0xe0 == 0xa0 || lead >= mStr8 && lead <= mStr32:
		return c.string()
	case lead&0xf0 == 0x90 || lead == mArr16 || lead == mArr32:
		return c.anyList(depth)
	case lead < 0x90 || lead == mMap16 || lead == mMap32:
		return c.anyMap(depth)
	case lead == 0xc1:
		c.fail("byte that msgpack does not use")
		return nil
	}
	return c.blob()
}

func (c *cursor) anyList(depth int) any {
	if depth >= maxDepth {
		c.fail("nested too deep")
		return nil
	}
	out := make([]any, c.promise(c.array()))
	for i := range out {
		c.owed--
		if out[i] = c.any(depth + 1); !c.ok() {
			return nil
		}
	}
	return out
}

// promise adds n values to those that the payload still owes, all levels
// together, so that lists inside lists cannot each claim the same bytes: what
// is allocated for them stays in proportion to the payload.
func (c *cursor) promise(n int) int {
	if n > c.left()-c.owed {
		c.fail("announces more elements than there are bytes")
		return 0
	}
	c.owed += n
	return n
}

// anyMap begins with string keys and changes over at the first other one.
func (c *cursor) anyMap(depth int) any {
	if depth >= maxDepth {
		c.fail("nested too deep")
		return nil
	}
	n := c.promise(2*c.mapping()) / 2
	named := make(map[string]any, min(n, 16))
	for i := range n {
		c.owed -= 2
		at := c.at
		key := c.any(depth + 1)
		s, ok := key.(string)
		if !ok && c.ok() {
			c.at = at
			return c.mixedMap(named, n-i, depth)
		}
		named[s] = c.any(depth + 1)
		if !c.ok() {
			return nil
		}
	}
	return named
}

func (c *cursor) mixedMap(named map[string]any, n, depth int) any {
	out := make(map[any]any, len(named)+min(n, 16))
	for k, v := range named {
		out[k] = v
	}
	c.owed += 2 // the caller took the first pair off.
	for range n {
		c.owed -= 2
		at := c.at
		key := c.any(depth + 1)
		switch key.(type) {
		case []byte, []any, map[string]any, map[any]any:
			c.at = at
			c.fail("map key of this kind")
		}
		if !c.ok() {
			return nil
		}
		out[key] = c.any(depth + 1)
	}
	return out
}

// params reads a map with string keys; nil for nil.
func (c *cursor) params() map[string]any {
	if c.null() {
		return nil
	}
	at := c.at
	c.mapping()
	c.at = at
	if !c.ok() {
		return nil
	}
	m, named := c.any(0).(map[string]any)
	if !named {
		c.fail("map with string keys expected")
	}
	return m
}
