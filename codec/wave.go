// SPDX-License-Identifier: Apache-2.0

package codec

// Exclude says whom a start of a wave leaves out. The zero value is nobody.
type Exclude struct {
	// Set says that Rank is left out.
	Set bool
	// Rank is at most MaxRank where Identity is set.
	Rank int
	// Identity says that the rank travels as the engine's two-byte identity, as
	// vLLM's Python client sends it. An engine compares it with an integer, so
	// it excludes nobody in effect.
	Identity bool
}

// ExcludeRank leaves out one engine.
func ExcludeRank(rank int) Exclude { return Exclude{Set: true, Rank: rank} }

func appendExclude(b []byte, x Exclude) []byte {
	switch {
	case !x.Set:
		return append(b, mNil)
	case x.Identity:
		return append(append(b, mBin8, 2), Identity(x.Rank)...)
	}
	return appendInt(b, x.Rank)
}

func (c *cursor) exclude() Exclude {
	if c.null() {
		return Exclude{}
	}
	if lead := c.peek(); lead < mBin8 || lead > mBin32 {
		return ExcludeRank(c.int())
	}
	at := c.at
	rank, ok := RankOf(string(c.blob()))
	if !ok {
		c.at = at
		c.fail("identity of two bytes expected")
		return Exclude{}
	}
	return Exclude{Set: true, Rank: rank, Identity: true}
}

// AppendStartWave appends the payload of a START_DP_WAVE message: [wave, whom
// to leave out]. It comes from a coordinator or, since engines take it there
// too, from a client on the input socket.
func AppendStartWave(dst []byte, wave int, exclude Exclude) []byte {
	return appendExclude(appendInt(append(dst, 0x92), wave), exclude)
}

// DecodeStartWave reads the payload of a START_DP_WAVE message. The error is a
// *DecodeError.
func DecodeStartWave(payload []byte) (wave int, exclude Exclude, err error) {
	c := cursor{b: payload}
	n := c.array()
	if c.ok() && n < 2 {
		c.fail("array of two expected")
	}
	c.field = "wave"
	wave = c.int()
	c.field = "exclude"
	exclude = c.exclude()
	for range n - 2 {
		c.skip()
	}
	c.end()
	return wave, exclude, c.err("start wave", -1)
}
