// SPDX-License-Identifier: Apache-2.0

package codec

// blob reads bin, or the extension that vLLM uses for raw bytes; the result
// aliases the payload. Its other extensions are Python's pickles, which can be
// understood by running them alone, and nobody should.
func (c *cursor) blob() []byte {
	lead := c.peek()
	switch {
	case lead >= mBin8 && lead <= mBin32:
		c.at++
		return c.take(int(c.number(1 << (lead - mBin8))))
	case lead >= mExt8 && lead <= mExt32:
		c.at++
		return c.ext(int(c.number(1 << (lead - mExt8))))
	case lead >= mFix1 && lead <= mFix16:
		c.at++
		return c.ext(1 << (lead - mFix1))
	}
	c.fail("bytes expected")
	return nil
}

func (c *cursor) ext(n int) []byte {
	code := c.take(1)
	if len(code) == 1 && code[0] != extRaw {
		c.at--
		switch code[0] {
		case extPickle:
			c.fail("a pickle, extension 1, which is not read")
		case extCloudPickle:
			c.fail("a cloudpickle, extension 2, which is not read")
		}
		c.fail("unknown extension")
	}
	return c.take(n)
}

// maxDepth bounds nesting. vLLM's own messages have eight levels; recursion on
// more is what makes other decoders die of a stack overflow.
const maxDepth = 64

// skip moves past one value of any kind, without recursion or allocation. It
// refuses what msgpack does not define, so that a skipped value is well formed
// as far as structure goes; strings are not looked into.
func (c *cursor) skip() {
	n := c.shallow()
	if n == 0 {
		return
	}
	var open [maxDepth]int // values still to come on each level.
	depth := 0
	for open[0] = n; ; {
		if !c.ok() {
			return
		}
		if open[depth] == 0 {
			if depth == 0 {
				return
			}
			depth--
			continue
		}
		open[depth]--
		if n := c.shallow(); n > 0 {
			if depth++; depth == maxDepth {
				c.fail("nested too deep")
				return
			}
			open[depth] = n
		}
	}
}

// shallow moves past a scalar, or past the header of an array or map, and gives
// the number of values that belong to it.
func (c *cursor) shallow() int {
	lead := c.peek()
	switch {
	case lead < 0x80 || lead >= 0xe0 || lead == mNil || lead == mFalse || lead == mTrue:
		c.at++
	case lead < 0x90 || lead >= mMap16 && lead <= mMap32:
		return 2 * c.mapping()
	case lead < 0xa0 || lead >= mArr16 && lead <= mArr32:
		return c.array()
	case lead < 0xc0:
		c.take(1 + int(lead&0x1f))
	case lead >= mStr8 && lead <= mStr32:
		c.at++
		c.take(int(c.number(1 << (lead - mStr8))))
	case lead >= mBin8 && lead <= mBin32:
		c.at++
		c.take(int(c.number(1 << (lead - mBin8))))
	case lead >= mExt8 && lead <= mExt32:
		c.at++
		c.take(1 + int(c.number(1<<(lead-mExt8))))
	case lead >= mFix1 && lead <= mFix16:
		c.take(2 + 1<<(lead-mFix1))
	case lead == mF32:
		c.take(5)
	case lead == mF64:
		c.take(9)
	case lead >= mU8 && lead <= mU64:
		c.take(1 + 1<<(lead-mU8))
	case lead >= mI8 && lead <= mI64:
		c.take(1 + 1<<(lead-mI8))
	default:
		c.fail("byte that msgpack does not use")
	}
	return 0
}

// raw gives the bytes of one value of any kind; they alias the payload.
func (c *cursor) raw() []byte {
	from := c.at
	c.skip()
	if !c.ok() {
		return nil
	}
	return c.b[from:c.at:c.at]
}
