// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/json"
	"math"
)

// FromJSON gives a copy of what encoding/json decoded into an any with its whole
// numbers as integers, for extra_args, transfer parameters and utility
// arguments. JSON has one kind of number and Go makes a float64 of it, also of a
// port or a block count, and Python does not take 5.0 for 5; the other way round
// it does. Only floats below 2^53 change, where every whole one is exact; a
// json.Number becomes what it says. Other kinds of values are the same memory.
//
// Nothing but a JSON schema is converted unasked: in a map of any values a
// float64 may well be meant, and integers are meant by typed fields alone.
func FromJSON(v any) any { return fromJSON(v, 0) }

func fromJSON(v any, depth int) any {
	if depth > maxDepth { // AppendValue refuses it.
		return v
	}
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	case json.Number:
		return number(v)
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = fromJSON(x, depth+1)
		}
		return out
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = fromJSON(x, depth+1)
		}
		return out
	}
	return v
}

// number gives an integer where there is one, and the text where it is none of
// JSON's numbers.
func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil {
		return n
	}
	return fromJSON(f, 0)
}

// schema binds a JSON schema, or a text of one. Its whole numbers are sent as
// integers: JSON makes no difference, and grammar backends refuse 5.0 for a
// length.
type schema struct{ p *any }

func (s schema) appendTo(b []byte) ([]byte, error) { return AppendValue(b, FromJSON(*s.p)) }
func (s schema) readFrom(c *cursor)                { *s.p = c.any(0) }
