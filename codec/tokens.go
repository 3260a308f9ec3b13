// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Token ids of real text are of every width, so a branch on the width is
// mispredicted every other time. Both directions look the width up instead and
// move eight bytes whatever it is: 1 to 3 ns a token, four times the branching
// form.

// tokenForm is how an integer of some bit length is written: the leading byte
// and the integer moved to the top of a word, and the bytes that count.
type tokenForm struct {
	lead  uint64
	shift uint8
	size  uint8
}

// tokenForms is indexed by the bit length of the token.
var tokenForms = [33]tokenForm{
	0: small, 1: small, 2: small, 3: small, 4: small, 5: small, 6: small, 7: small,
	8: {mU8 << 56, 48, 2},
	9: two, 10: two, 11: two, 12: two, 13: two, 14: two, 15: two, 16: two,
	17: four, 18: four, 19: four, 20: four, 21: four, 22: four, 23: four, 24: four,
	25: four, 26: four, 27: four, 28: four, 29: four, 30: four, 31: four, 32: four,
}

var (
	small = tokenForm{0, 56, 1}
	two   = tokenForm{mU16 << 56, 40, 3}
	four  = tokenForm{mU32 << 56, 24, 5}
)

// appendTokens appends an array of integers in their smallest form. It reserves
// five bytes a token: the last store may overlap what is not written yet.
func appendTokens(b []byte, tokens []uint32) []byte {
	if tokens == nil {
		return append(b, mNil)
	}
	b = slices.Grow(appendArray(b, len(tokens)), 5*len(tokens)+8)
	at := len(b)
	w := b[:cap(b)]
	for _, t := range tokens {
		f := &tokenForms[bits.Len32(t)]
		binary.BigEndian.PutUint64(w[at:], f.lead|uint64(t)<<f.shift)
		at += int(f.size)
	}
	return b[:at]
}

// tokenSizes has, for each leading byte, how many bytes a token of that form
// takes; 0 marks the forms of the slow way: wider than needed, or no token.
const (
	ones16     = "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"
	none16     = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	fix128     = ones16 + ones16 + ones16 + ones16 + ones16 + ones16 + ones16 + ones16
	unsigned16 = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x03\x05\x00"
	tokenSizes = fix128 + none16 + none16 + none16 + none16 + unsigned16 + none16 + none16 + none16
)

// tokenMasks is indexed by the size that tokenSizes gives.
var tokenMasks = [8]uint32{1: 0x7f, 2: 0xff, 3: 0xffff, 5: math.MaxUint32}

// tokens reads len(dst) integers, which an array header has announced.
func (c *cursor) tokens(dst []uint32) {
	b, at := c.b, c.at
	for i := range dst {
		if at+8 <= len(b) {
			if size := tokenSizes[b[at]]; size != 0 {
				w := binary.BigEndian.Uint64(b[at:])
				dst[i] = uint32(w>>(64-8*size)) & tokenMasks[size&7]
				at += int(size)
				continue
			}
		}
		c.at = at
		dst[i] = c.token()
		at = c.at
	}
	c.at = at
}

// token is the slow way: any width, the range checked.
func (c *cursor) token() uint32 {
	at := c.at
	v, negative := c.integer()
	if negative || v > math.MaxUint32 {
		c.at = at
		c.fail("token id out of range")
		return 0
	}
	return uint32(v)
}

// tokenList reads an array of its own, nil for nil.
func (c *cursor) tokenList() []uint32 {
	if c.null() {
		return nil
	}
	dst := make([]uint32, c.array())
	c.tokens(dst)
	return dst
}
