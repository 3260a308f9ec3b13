// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// width is the number of columns that a line of JSON takes if it can.
const width = 100

// appendJSON appends a value that shower made. What fits a line is one line, and
// long lists of scalars fill theirs: token ids come by the thousand.
func appendJSON(b []byte, v *value, indent int) []byte {
	start := len(b)
	if v.scalar() {
		return appendScalar(b, v)
	}
	if line, ok := appendLine(b, v, width-indent); ok {
		return line
	}
	b = b[:start]
	if v.kind == array && flat(v) {
		return appendFilled(b, v, indent+2)
	}
	open, end := byte('['), byte(']')
	if v.kind == mapping {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i := range v.list {
		if v.kind == array || i%2 == 0 {
			b = appendBreak(b, i > 0, indent+2)
		}
		b = appendJSON(b, &v.list[i], indent+2)
		if v.kind == mapping && i%2 == 0 {
			b = append(b, ':', ' ')
		}
	}
	return append(appendBreak(b, false, indent), end)
}

func appendBreak(b []byte, comma bool, indent int) []byte {
	if comma {
		b = append(b, ',')
	}
	return append(append(b, '\n'), bytes.Repeat([]byte{' '}, indent)...)
}

func flat(v *value) bool {
	for i := range v.list {
		if !v.list[i].scalar() {
			return false
		}
	}
	return true
}

// appendFilled writes as many elements on a line as it holds.
func appendFilled(b []byte, v *value, indent int) []byte {
	b = append(b, '[')
	line := width + 1
	for i := range v.list {
		one := appendScalar(nil, &v.list[i])
		if line+len(one)+2 > width {
			b = appendBreak(b, i > 0, indent)
			line = indent
		} else {
			b = append(b, ',', ' ')
		}
		b = append(b, one...)
		line += len(one) + 2
	}
	return append(appendBreak(b, false, indent-2), ']')
}

// appendLine gives up when the line is longer than room.
func appendLine(b []byte, v *value, room int) ([]byte, bool) {
	if v.scalar() {
		from := len(b)
		b = appendScalar(b, v)
		return b, len(b)-from <= room
	}
	from := len(b)
	open, end := byte('['), byte(']')
	if v.kind == mapping {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i := range v.list {
		if i > 0 && (v.kind == array || i%2 == 0) {
			b = append(b, ',', ' ')
		}
		var ok bool
		if b, ok = appendLine(b, &v.list[i], room-(len(b)-from)-1); !ok {
			return b, false
		}
		if v.kind == mapping && i%2 == 0 {
			b = append(b, ':', ' ')
		}
	}
	b = append(b, end)
	return b, len(b)-from <= room
}

func appendScalar(b []byte, v *value) []byte {
	switch v.kind {
	case boolean:
		return strconv.AppendBool(b, v.bits != 0)
	case natural:
		return strconv.AppendUint(b, v.bits, 10)
	case negative:
		return strconv.AppendInt(b, int64(v.bits), 10)
	case float:
		from, format := len(b), byte('f') // as people write a wall clock, not 1.7e+09
		if x := math.Abs(v.float()); x != 0 && (x < 1e-6 || x >= 1e21) {
			format = 'e'
		}
		b = strconv.AppendFloat(b, v.float(), format, -1, 64)
		if !bytes.ContainsAny(b[from:], ".e") {
			b = append(b, ".0"...)
		}
		return b
	case text:
		return appendQuoted(b, string(v.bytes))
	}
	return append(b, "null"...)
}

// appendQuoted escapes all that a terminal would not show as a character.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return append(b, '"')
}
