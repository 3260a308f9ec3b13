// SPDX-License-Identifier: Apache-2.0

package codec

// LayoutOfOutputs tells the release of an engine from one outputs message, as
// far as its bytes can: oldest and newest are the first and the last layout that
// writes messages of this form, ok is false when it is none's. It is the last
// resort, for an engine that said no release and of which nobody knows one.
//
// The length of the message parts 0.32.0 and later (nine fields) from what is
// before (eight). The length of a row, and what stands in it, part ten more
// times: 13 fields are those of 0.14.0 and 0.15.0 or of 0.20.0 to 0.25.1, 14 are
// those of 0.16.0 to 0.19.1 or of 0.26.0 and 0.27.0, and the counters of cached
// tokens, which 0.20.0 took away, tell which. Releases that write the same rows
// cannot be told apart, so the keys of their requests cannot either: take oldest
// for requests, if only few. A message without rows tells the half of it, and
// one that is longer than all known is taken for the newest's.
//
// It looks at the message's header and at most eight rows, allocates nothing,
// and takes hostile bytes for no layout at all; that what it did not look at can
// be decoded, it does not say.
func LayoutOfOutputs(payload []byte) (oldest, newest *Layout, ok bool) {
	c := cursor{b: payload}
	n := c.array()
	if c.skip(); !c.ok() || n < len(layouts[0].outputs) {
		return nil, nil, false
	}
	// Layouts from first to last are those that the message's length allows.
	first, last := 0, len(layouts)-1
	for first < last && len(layouts[first].outputs) < min(n, len(layouts[last].outputs)) {
		first++
	}
	for last > first && len(layouts[last].outputs) > n {
		last--
	}
	rows := c.array()
	for range min(rows, mostSample) {
		row := cursor{b: c.b, at: c.at}
		if c.skip(); !c.ok() {
			return nil, nil, false
		}
		from, to := row.writers(first, last)
		if from <= to {
			return &layouts[from], &layouts[to], true
		}
	}
	if !c.ok() || rows > 0 {
		return nil, nil, false
	}
	return &layouts[first], &layouts[last], true
}

// mostSample is the number of rows after which a message in which every row is
// broken is given up.
const mostSample = 8

// writers gives the first and the last of the layouts whose engines write such a
// row; first is after last when there is none.
func (c *cursor) writers(first, last int) (from, to int) {
	n := c.array()
	if c.ok() && n > len(layouts[len(layouts)-1].output) && last == len(layouts)-1 {
		return last, last
	}
	from, to = len(layouts), -1
	for i := first; i <= last; i++ {
		if len(layouts[i].output) == n && c.writtenBy(&layouts[i]) {
			from, to = min(from, i), i
		}
	}
	return from, to
}

// writtenBy compares the kinds of a row's values with those of the fields. It
// moves nothing.
func (c *cursor) writtenBy(l *Layout) bool {
	r := cursor{b: c.b, at: c.at}
	for _, s := range l.output {
		lead := r.peek()
		if r.skip(); !r.ok() || !s.takes(lead) {
			return false
		}
	}
	return true
}

// takes reports whether a value of an output can begin with lead.
func (s slot) takes(lead byte) bool {
	array := lead&0xf0 == 0x90 || lead == mArr16 || lead == mArr32
	mapping := lead&0xf0 == 0x80 || lead == mMap16 || lead == mMap32
	integer := lead < 0x80 || lead >= 0xe0 || lead >= mU8 && lead <= mI64
	text := lead&0xe0 == 0xa0 || lead >= mStr8 && lead <= mStr32
	if lead == mNil && s.zero == mNil {
		return true
	}
	switch s.field {
	case fRequestID:
		return text
	case fNewTokenIDs, fNewLogprobs, fNewPromptLogprobsTensors, fPoolingOutput, fEvents, fRoutedExperts,
		fMMCacheMissHashes, fNewSamplingMask, fPromptTokenIDLogprobs:
		return array
	case fFinishReason, fNumCachedTokens, fNumExternalComputedTokens, fNumNansInLogits:
		return integer
	case fStopReason:
		return integer || text
	}
	return mapping
}
