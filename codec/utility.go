// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"errors"
	"fmt"
)

// UtilityCall asks an engine to run one of its methods; there is no list of
// allowed names. vLLM: the payload of a UTILITY message.
type UtilityCall struct {
	// ClientIndex chooses the output socket of the answer.
	ClientIndex int
	CallID      CallID
	Method      string
	// Args go through AppendValue, so a float64 stays one: what came as JSON
	// goes through FromJSON, adapters through Layout.CallArgs. Fewer than the method takes is fine, more is
	// a failure answer.
	Args []any
}

// AppendUtility appends the payload of a UTILITY message: [client index, call
// id, method, args]. An argument that has no msgpack form, or an empty method,
// is a *FieldError. Args nil is an empty array.
func AppendUtility(dst []byte, u *UtilityCall) ([]byte, error) {
	switch {
	case u.Method == "" || !validText(u.Method):
		return dst, &FieldError{Message: "utility", Field: "method", Rule: "must be valid UTF-8 and not empty"}
	case u.ClientIndex < 0:
		return dst, &FieldError{Message: "utility", Field: "client_index", Rule: fmt.Sprintf("must be at least 0, is %d", u.ClientIndex)}
	}
	b := appendInt(append(dst, 0x94), u.ClientIndex)
	b = appendString(appendCallID(b, u.CallID), u.Method)
	b = appendArray(b, len(u.Args))
	for i, arg := range u.Args {
		var err error
		if b, err = AppendValue(b, arg); err != nil {
			if f, ok := errors.AsType[*FieldError](err); ok {
				return dst, &FieldError{Message: "utility", Field: fmt.Sprintf("%s: args[%d]", printable(u.Method), i), Rule: f.Rule}
			}
			return dst, err
		}
	}
	return b, nil
}

// DecodeUtility reads the payload of a UTILITY message. The error is a
// *DecodeError.
func DecodeUtility(payload []byte) (*UtilityCall, error) {
	c := &cursor{b: payload}
	u := &UtilityCall{}
	n := c.array()
	if c.ok() && n < 4 {
		c.fail("array of four expected")
	}
	c.field = "client_index"
	u.ClientIndex = c.int()
	c.field = "call_id"
	u.CallID = c.callID()
	c.field = "method"
	u.Method = c.string()
	c.field = "args"
	at := c.at
	c.array()
	c.at = at
	if c.ok() {
		u.Args, _ = c.any(0).([]any)
	}
	for range n - 4 {
		c.skip()
	}
	c.end()
	if err := c.err("utility", -1); err != nil {
		return nil, err
	}
	return u, nil
}
