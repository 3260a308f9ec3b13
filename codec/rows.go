// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

const (
	// smallestRow is an array of two with an id of one byte and no tokens.
	smallestRow = 4
	// maxBadRows bounds what a hostile message can make of its bytes: an error
	// is larger than the row it is about.
	maxBadRows = 256
)

// rowReader has what all rows of a message share.
type rowReader struct {
	layout *Layout
	head   uint64 // the header of a full row, at the top of a word,
	mask   uint64 // the bits of it that count,
	size   int    // and its bytes.
	finish int    // of finish_reason in layout.plain.
	tokens []uint32
	left   int // rows still to come, this one included.
	bad    int
}

func (c *cursor) rows(l *Layout, o *Outputs) {
	n := c.array()
	if n == 0 {
		return
	}
	t := rowReader{layout: l, finish: position(l.output, fFinishReason) - 2, left: n}
	t.head, t.mask, t.size = 0x90<<56|uint64(len(l.output))<<56, 0xff<<56, 1
	if len(l.output) > 15 {
		t.head, t.mask, t.size = mArr16<<56|uint64(len(l.output))<<40, 0xffffff<<40, 3
	}
	room := min(n, c.left()/smallestRow+1) // an array of more than these is cut off
	rows := o.Rows[:0]
	if cap(rows) < room {
		rows = make([]Output, room)
	}
	rows = rows[:room]
	o.Rows = rows
	for i := range n {
		if i == len(rows) {
			c.fail("cut off")
			return
		}
		if row := &rows[i]; !c.usualRow(&t, row, i) {
			c.anyRow(&t, row, i)
			if !c.ok() {
				return
			}
		}
		t.left--
	}
}

// take gives room for the tokens of a row. The first call reserves for all rows
// that are left, on the guess that they have as many; no guess is over the
// number of bytes that are left.
func (t *rowReader) take(n, bytes int) []uint32 {
	at := len(t.tokens)
	if cap(t.tokens)-at < n {
		t.tokens, at = make([]uint32, 0, max(n, min(n*t.left, bytes))), 0
	}
	t.tokens = t.tokens[:at+n]
	return t.tokens[at : at+n : at+n]
}

// usualRow reads a full row whose id and tokens, at most 15, have the forms that engines
// write; most have nothing else but perhaps a finish reason. It moves nothing and reports
// false on any other row, and on one that is malformed.
func (c *cursor) usualRow(t *rowReader, row *Output, i int) bool {
	b, plain := c.b[c.at:], t.layout.plain
	if len(b) < 8 || binary.BigEndian.Uint64(b)&t.mask != t.head {
		return false
	}
	at := t.size
	n := int(b[at] & 0x1f)
	if b[at] == mStr8 {
		at++
		n = int(b[at])
	} else if b[at]&0xe0 != 0xa0 {
		return false
	}
	at++
	if len(b) < at+n+1+len(plain) || n == 0 {
		return false
	}
	id := b[at : at+n : at+n]
	at += n
	if b[at]&0xf0 != 0x90 || !ascii(b[at-n:], n) && !utf8.Valid(id) {
		return false
	}
	n = int(b[at] & 0x0f)
	// Eight bytes can be loaded at each token: the tail is that long.
	if at++; len(b) < at+5*n+len(plain) {
		return false
	}
	kept := t.tokens
	tokens := t.take(n, len(b))
	for i := range tokens {
		size := tokenSizes[b[at]]
		tokens[i] = uint32(binary.BigEndian.Uint64(b[at:])>>(64-8*size)) & tokenMasks[size&7]
		at += int(size)
		if size == 0 {
			t.tokens = kept
			return false
		}
	}
	row.ID, row.Tokens = id, tokens
	if finish, ok := t.plainTail(b[at:]); ok {
		row.Finish = finish
		c.at += at + len(plain)
		return true
	}
	r := cursor{b: c.b, at: c.at + at, aux: c.aux}
	if r.rest(t, row, len(t.layout.output), i); !r.ok() {
		t.tokens, *row = kept, Output{}
		return false
	}
	c.at = r.at
	return true
}

// ascii looks at the first n bytes of b, which goes on for eight more.
func ascii(b []byte, n int) bool {
	var all uint64
	for ; n >= 8; n -= 8 {
		all |= binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	all |= binary.LittleEndian.Uint64(b) << (64 - 8*n)
	return all&0x8080808080808080 == 0
}

// plainTail compares all that follows the tokens with nothing being there.
func (t *rowReader) plainTail(b []byte) (FinishReason, bool) {
	plain, k := t.layout.plain, t.finish
	if len(b) < len(plain) {
		return 0, false
	}
	if string(b[:len(plain)]) == plain {
		return FinishNone, true
	}
	if b[k] >= 0x80 || string(b[:k]) != plain[:k] || string(b[k+1:len(plain)]) != plain[k+1:] {
		return 0, false
	}
	return FinishReason(b[k]) + 1, true
}

// anyRow finds the end of a row by its structure first, so that whatever is
// wrong inside stays inside.
func (c *cursor) anyRow(t *rowReader, row *Output, i int) {
	from := c.at
	c.skip()
	if !c.ok() {
		return
	}
	r := cursor{b: c.b[:c.at:c.at], at: from, aux: c.aux}
	r.row(t, row, i)
	if err := r.err("outputs", i); err != nil {
		*row = Output{ID: row.ID, Err: err}
		if t.bad++; t.bad > maxBadRows {
			c.fail("too many malformed rows")
		}
	}
}

func (c *cursor) row(t *rowReader, row *Output, i int) {
	n := c.array()
	if n < 2 {
		c.fail("output without id and tokens")
		return
	}
	slots := t.layout.output
	c.field = slots[0].field.String()
	if row.ID = c.text(); c.ok() && len(row.ID) == 0 {
		c.fail("empty id")
	}
	c.field = slots[1].field.String()
	row.Tokens = t.take(c.array(), c.left())
	c.tokens(row.Tokens)
	c.rest(t, row, n, i)
}

// rest reads the fields of a row after its tokens, of n in all.
func (c *cursor) rest(t *rowReader, row *Output, n, i int) {
	slots := t.layout.output
	tail, plain := c.at, true
	for k := 2; k < n && c.ok(); k++ {
		if k >= len(slots) {
			c.skip()
			continue
		}
		c.field = slots[k].field.String()
		switch s := slots[k]; {
		case s.field == fFinishReason:
			row.Finish = c.finish()
		case c.peek() == s.zero:
			c.at++
		default:
			plain = false
			c.skip()
		}
	}
	if c.ok() && !plain {
		row.extra = &rare{layout: t.layout, b: c.b[:c.at:c.at], at: tail, n: n - 2, row: i, aux: c.aux}
	}
}

func (c *cursor) finish() FinishReason {
	if c.null() {
		return FinishNone
	}
	at := c.at
	n := c.int()
	if n < 0 || n >= math.MaxUint8 {
		c.at = at
		c.fail("finish reason out of range")
		return FinishNone
	}
	return FinishReason(n + 1)
}
