// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"unicode/utf8"
)

// cursor reads one payload from front to back. The first failure sticks: what
// is read after it is zero and moves nothing, so readers check once at the end.
// Announced lengths are compared with the bytes left before anyone trusts them.
type cursor struct {
	b     []byte
	at    int
	aux   [][]byte // tensor frames; index 1 on the wire is the first.
	owed  int      // values announced and not yet read, see promise.
	field string   // vLLM's name of what is being read, for the error.
	why   string   // the first failure, empty while there is none,
	whyAt int      // where it was,
	whose string   // and field then.
}

func (c *cursor) ok() bool { return c.why == "" }

func (c *cursor) left() int { return len(c.b) - c.at }

func (c *cursor) fail(why string) {
	if c.why == "" {
		c.why, c.whyAt, c.whose = why, c.at, c.field
	}
}

// err gives the failure as a *DecodeError, or nil.
func (c *cursor) err(message string, row int) error {
	if c.why == "" {
		return nil
	}
	from := min(c.whyAt, len(c.b))
	return &DecodeError{
		Message: message, Field: c.whose, Row: row, Offset: c.whyAt, Reason: c.why,
		Preview: hex.EncodeToString(c.b[from:min(from+16, len(c.b))]),
	}
}

// end fails when bytes are left: an engine refuses them as well.
func (c *cursor) end() {
	if c.ok() && c.left() != 0 {
		c.field = ""
		c.fail("trailing bytes")
	}
}

// peek gives the next leading byte, and 0xc1, which msgpack never uses, at the
// end and after a failure.
func (c *cursor) peek() byte {
	if c.why == "" && c.at < len(c.b) {
		return c.b[c.at]
	}
	c.fail("truncated")
	return 0xc1
}

// null moves past a nil, and reports whether it did.
func (c *cursor) null() bool {
	if c.peek() != mNil {
		return false
	}
	c.at++
	return true
}

// take gives the next n bytes; nil and a failure when there are fewer.
func (c *cursor) take(n int) []byte {
	if c.why != "" {
		return nil
	}
	if n < 0 || c.left() < n {
		c.fail("truncated")
		return nil
	}
	p := c.b[c.at : c.at+n : c.at+n]
	c.at += n
	return p
}

// number reads a big-endian unsigned integer of 1, 2, 4 or 8 bytes.
func (c *cursor) number(size int) uint64 {
	p := c.take(size)
	switch len(p) {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(p))
	case 4:
		return uint64(binary.BigEndian.Uint32(p))
	case 8:
		return binary.BigEndian.Uint64(p)
	}
	return 0
}

// integer reads an integer of any width as its bits and its sign.
func (c *cursor) integer() (v uint64, negative bool) {
	lead := c.peek()
	switch {
	case lead < 0x80:
		c.at++
		return uint64(lead), false
	case lead >= 0xe0:
		c.at++
		return uint64(int64(int8(lead))), true
	case lead >= mU8 && lead <= mU64:
		c.at++
		return c.number(1 << (lead - mU8)), false
	case lead >= mI8 && lead <= mI64:
		c.at++
		size := 1 << (lead - mI8)
		shift := 64 - 8*size
		n := int64(c.number(size)<<shift) >> shift
		return uint64(n), n < 0
	}
	c.fail("integer expected")
	return 0, false
}

func (c *cursor) int64() int64 {
	at := c.at
	v, negative := c.integer()
	if !negative && v > math.MaxInt64 {
		c.at = at
		c.fail("integer out of range")
		return 0
	}
	return int64(v)
}

func (c *cursor) int() int { return int(c.int64()) }

// float reads a float of either width or, as msgspec does, an integer.
func (c *cursor) float() float64 {
	switch c.peek() {
	case mF64:
		c.at++
		return math.Float64frombits(c.number(8))
	case mF32:
		c.at++
		return float64(math.Float32frombits(uint32(c.number(4))))
	}
	before := c.ok()
	v, negative := c.integer()
	if before && c.why == "integer expected" {
		c.why = "number expected"
	}
	if negative {
		return float64(int64(v))
	}
	return float64(v)
}

func (c *cursor) bool() bool {
	switch c.peek() {
	case mTrue:
		c.at++
		return true
	case mFalse:
		c.at++
		return false
	}
	c.fail("bool expected")
	return false
}

// text reads a string as bytes that alias the payload, and checks its UTF-8.
func (c *cursor) text() []byte {
	lead, n := c.peek(), 0
	switch {
	case lead&0xe0 == 0xa0:
		c.at++
		n = int(lead & 0x1f)
	case lead >= mStr8 && lead <= mStr32:
		c.at++
		n = int(c.number(1 << (lead - mStr8)))
	default:
		c.fail("string expected")
		return nil
	}
	p := c.take(n)
	if c.why == "" && !utf8.Valid(p) {
		c.at -= n
		c.fail("invalid UTF-8")
		return nil
	}
	return p
}

func (c *cursor) string() string { return string(c.text()) }

// array reads the length of an array, which is never over the bytes left.
func (c *cursor) array() int {
	lead, n := c.peek(), 0
	switch {
	case lead&0xf0 == 0x90:
		c.at++
		n = int(lead & 0x0f)
	case lead == mArr16 || lead == mArr32:
		c.at++
		n = int(c.number(2 << (lead - mArr16)))
	default:
		c.fail("array expected")
	}
	return c.fits(n, 1)
}

// mapping reads the length of a map, which is never over half the bytes left.
func (c *cursor) mapping() int {
	lead, n := c.peek(), 0
	switch {
	case lead&0xf0 == 0x80:
		c.at++
		n = int(lead & 0x0f)
	case lead == mMap16 || lead == mMap32:
		c.at++
		n = int(c.number(2 << (lead - mMap16)))
	default:
		c.fail("map expected")
	}
	return c.fits(n, 2)
}

// fits gives n if n elements of so many bytes at least can follow, else 0.
func (c *cursor) fits(n, each int) int {
	if n > c.left()/each {
		c.fail("announces more elements than there are bytes")
	}
	if c.why != "" {
		return 0
	}
	return n
}
