// SPDX-License-Identifier: Apache-2.0

package codec

// UtilityOutput is the answer to a UtilityCall, or a notification. vLLM:
// UtilityOutput.
type UtilityOutput struct {
	CallID CallID
	// Failure is the engine's message; see Failed. vLLM: failure_message.
	Failure string

	failed bool
	raw    []byte // the value, as it came.
	aux    [][]byte
	value  any
}

// Failed reports whether the call failed; the message may be empty.
func (u *UtilityOutput) Failed() bool { return u.failed || u.Failure != "" }

// Result decodes the value a method returned, as DecodeValue does; nil for
// none. The type that an insecure vLLM sends beside it is not looked at. Sets
// and tuples are []any, tensors []any of three (see Tensor).
func (u *UtilityOutput) Result() (any, error) {
	if u.raw == nil {
		return u.value, nil
	}
	c := &cursor{b: u.raw}
	v := c.any(0)
	return v, c.err("utility result", -1)
}

// SetResult sets the value to be encoded, by AppendValue.
func (u *UtilityOutput) SetResult(v any) { u.raw, u.aux, u.value = nil, nil, v }

// Tensor reads v, a [dtype, shape, data] somewhere inside Result, with the frame
// it points to. The error is a *DecodeError or what AppendValue says of v.
func (u *UtilityOutput) Tensor(v any) (*Tensor, error) {
	b, err := AppendValue(nil, v)
	if err != nil {
		return nil, err
	}
	c := &cursor{b: b, aux: u.aux}
	t := c.tensor()
	return t, c.err("utility result", -1)
}

func (c *cursor) utilityOutput(l *Layout) *UtilityOutput {
	if c.null() {
		return nil
	}
	u := &UtilityOutput{aux: c.aux}
	n := c.array()
	if n < 1 {
		c.fail("utility output without call id")
	}
	u.CallID = c.callID()
	if n > 1 && !c.null() {
		u.failed, u.Failure = true, c.string()
	}
	if n > 2 && !c.null() {
		u.raw = c.result(l)
	}
	for range n - 3 {
		c.skip()
	}
	return u
}

// result gives the bytes of the value in [type, value]. The first releases sent
// the value alone.
func (c *cursor) result(l *Layout) []byte {
	if l.bareResult {
		return c.raw()
	}
	n := c.array()
	if n < 2 {
		c.fail("result of two elements expected")
	}
	c.skip()
	raw := c.raw()
	for range n - 2 {
		c.skip()
	}
	return raw
}

func (e *encoder) utilityOutput(l *Layout, u *UtilityOutput) {
	if u == nil {
		e.b = append(e.b, mNil)
		return
	}
	e.b = appendCallID(append(e.b, 0x93), u.CallID)
	if u.Failed() {
		if !validText(u.Failure) && e.err == nil {
			e.err = &FieldError{Message: "outputs", Field: "failure_message", Rule: "is not valid UTF-8"}
		}
		e.b = append(appendString(e.b, u.Failure), mNil)
		return
	}
	e.b = append(e.b, mNil)
	if !l.bareResult {
		e.b = append(e.b, 0x92, mNil)
	}
	if u.raw == nil {
		e.value("utility_output", u.value)
		return
	}
	// The value names its tensor frames by number.
	if len(u.aux) > 0 && len(e.aux) > e.base && e.err == nil {
		e.err = &FieldError{Message: "outputs", Field: "utility_output", Rule: "has tensor frames of its own beside those of rows"}
	}
	e.b = append(e.b, u.raw...)
	e.aux = append(e.aux, u.aux...)
}
