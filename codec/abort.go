// SPDX-License-Identifier: Apache-2.0

package codec

// AppendAbort appends the payload of an ABORT: an array of request ids. An
// engine skips ids it does not know, so ids that are not valid UTF-8, which no
// engine can know, are left out. Clients send no empty list.
func AppendAbort(dst []byte, ids ...string) []byte {
	n := 0
	for _, id := range ids {
		n += btoi(validText(id))
	}
	dst = appendArray(dst, n)
	for _, id := range ids {
		if validText(id) {
			dst = appendString(dst, id)
		}
	}
	return dst
}

// DecodeAbort reads the payload of an ABORT. The error is a *DecodeError.
func DecodeAbort(payload []byte) ([]string, error) {
	c := cursor{b: payload, field: "ids"}
	if c.peek() == mNil {
		c.fail("array expected")
	}
	ids := c.strings()
	c.end()
	if err := c.err("abort", -1); err != nil {
		return nil, err
	}
	return ids, nil
}
