// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/hex"
	"fmt"
	"math"
)

const (
	maxDepth  = 64
	maxValues = 4 << 20 // of one message: each takes about 100 bytes of memory here.
)

// fault says where a payload stops being msgpack.
type fault struct {
	at   int
	path []int // positions from the outermost container; of a map, see value.list.
	why  string
}

// reader reads any msgpack. The first fault ends it; what was read until then is
// kept, so that a payload that was cut can be shown up to the cut.
type reader struct {
	b     []byte
	at    int
	count int
	path  []int
	fault *fault // the first.
	over  bool   // nothing more can be read.
}

// read gives the one value of a payload.
func read(b []byte) (value, *fault) {
	r := &reader{b: b}
	v := r.value()
	if r.fault == nil && r.at < len(b) {
		r.fail(r.at, fmt.Sprintf("%d trailing bytes after the message", len(b)-r.at))
	}
	return v, r.fault
}

// fail ends the reading.
func (r *reader) fail(at int, why string) {
	r.note(at, why)
	r.over = true
}

func (r *reader) note(at int, why string) {
	if r.fault == nil {
		r.fault = &fault{at: at, path: append([]int(nil), r.path...), why: why}
	}
}

func (r *reader) take(n int, what string) []byte {
	if left := len(r.b) - r.at; n > left {
		r.fail(r.at, fmt.Sprintf("%s wants %d bytes, there are %d", what, n, left))
	}
	if r.over {
		return nil
	}
	p := r.b[r.at : r.at+n]
	r.at += n
	return p
}

// number reads a big-endian unsigned integer of so many bytes.
func (r *reader) number(size int, what string) (n uint64) {
	for _, c := range r.take(size, what) {
		n = n<<8 | uint64(c)
	}
	return n
}

func (r *reader) value() value {
	v := value{at: r.at}
	if r.count++; r.count > maxValues {
		r.fail(r.at, fmt.Sprintf("more than %d values", maxValues))
	}
	if r.at == len(r.b) {
		r.fail(r.at, "the message ends here, a value is missing")
	}
	if !r.over {
		lead := r.b[r.at]
		r.at++
		r.rest(&v, lead)
	}
	v.end = r.at
	return v
}

// rest reads what follows a leading byte.
func (r *reader) rest(v *value, lead byte) {
	switch {
	case lead < 0x80:
		v.kind, v.bits = natural, uint64(lead)
	case lead < 0x90:
		r.elements(v, mapping, int(lead&0x0f))
	case lead < 0xa0:
		r.elements(v, array, int(lead&0x0f))
	case lead < 0xc0:
		v.kind, v.bytes = text, r.take(int(lead&0x1f), "a string")
	case lead >= 0xe0:
		v.kind, v.bits = negative, uint64(int64(int8(lead)))
	case lead >= 0xd4 && lead <= 0xd8:
		r.extension(v, 1<<(lead-0xd4))
	default:
		r.sized(v, lead)
	}
}

// sized reads the forms with a number after the leading byte.
func (r *reader) sized(v *value, lead byte) {
	switch lead {
	case 0xc0:
	case 0xc2, 0xc3:
		v.kind, v.bits = boolean, uint64(lead-0xc2)
	case 0xc4, 0xc5, 0xc6:
		v.kind, v.bytes = bin, r.take(r.length(1<<(lead-0xc4)), "bytes")
	case 0xc7, 0xc8, 0xc9:
		r.extension(v, r.length(1<<(lead-0xc7)))
	case 0xca:
		v.kind = float
		v.bits = math.Float64bits(widen(uint32(r.number(4, "a float"))))
	case 0xcb:
		v.kind, v.bits = float, r.number(8, "a float")
	case 0xcc, 0xcd, 0xce, 0xcf:
		v.kind, v.bits = natural, r.number(1<<(lead-0xcc), "an integer")
	case 0xd0, 0xd1, 0xd2, 0xd3:
		r.signed(v, 1<<(lead-0xd0))
	case 0xd9, 0xda, 0xdb:
		v.kind, v.bytes = text, r.take(r.length(1<<(lead-0xd9)), "a string")
	case 0xdc, 0xdd:
		r.elements(v, array, r.length(2<<(lead-0xdc)))
	case 0xde, 0xdf:
		r.elements(v, mapping, r.length(2<<(lead-0xde)))
	default:
		r.fail(r.at-1, "a byte that msgpack does not use")
	}
}

func widen(bits uint32) float64 { return float64(math.Float32frombits(bits)) }

func (r *reader) length(size int) int { return int(r.number(size, "a length")) }

func (r *reader) signed(v *value, size int) {
	shift := 64 - 8*size
	n := int64(r.number(size, "an integer")<<shift) >> shift
	v.kind, v.bits = natural, uint64(n)
	if n < 0 {
		v.kind = negative
	}
}

func (r *reader) extension(v *value, n int) {
	v.kind = extension
	if code := r.take(1, "an extension"); len(code) == 1 {
		v.code = int8(code[0])
	}
	v.bytes = r.take(n, "an extension")
}

// elements reads an array, or a map, which has two values a pair. Each value
// takes a byte at least, so an announcement of more than is left is a fault; what
// there is is read all the same, for most such messages were cut short.
func (r *reader) elements(v *value, k kind, n int) {
	v.kind = k
	if k == mapping {
		n *= 2
	}
	v.want = n
	if left := len(r.b) - r.at; n > left {
		r.note(v.at, fmt.Sprintf("%s announces %d values, there are %d bytes", k, n, left))
	}
	if len(r.path) == maxDepth {
		r.fail(v.at, fmt.Sprintf("nested deeper than %d", maxDepth))
		return
	}
	for i := range n {
		if r.over {
			return
		}
		if r.at == len(r.b) {
			r.fail(r.at, fmt.Sprintf("the message ends after %d of %d values", i, n))
			return
		}
		r.path = append(r.path, i)
		x := r.value()
		if !r.over || !x.scalar() { // half a scalar is none
			v.list = append(v.list, x)
		}
		r.path = r.path[:len(r.path)-1]
	}
}

// preview is what stands at a byte of the payload, in hexadecimal.
func preview(b []byte, at int) string {
	at = min(max(at, 0), len(b))
	return hex.EncodeToString(b[at:min(at+16, len(b))])
}
