// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"math"
	"strconv"
)

// CallID ties an answer to its call. Python's are the upper half of a UUID, so
// all 64 bits are used; two negative ones mark notifications. Comparable.
type CallID struct {
	N        uint64 // the absolute value.
	Negative bool
}

// ElasticCall marks news of elastic expert parallelism: the result is
// ["RECONFIGURE_FINISHED" or "SHUTDOWN_COMPLETE", rank]. vLLM: call id -1.
func ElasticCall() CallID { return CallID{N: 1, Negative: true} }

// FaultCall marks a fault tolerance status, {"id", "status", …}. vLLM: call
// id -2.
func FaultCall() CallID { return CallID{N: 2, Negative: true} }

// String gives the number in decimal.
func (c CallID) String() string {
	if c.Negative {
		return "-" + strconv.FormatUint(c.N, 10)
	}
	return strconv.FormatUint(c.N, 10)
}

func appendCallID(b []byte, id CallID) []byte {
	switch {
	case !id.Negative:
		return appendUint(b, id.N)
	case id.N <= math.MaxInt64:
		return appendInt(b, -int(id.N))
	}
	return binary.BigEndian.AppendUint64(append(b, mI64), -id.N)
}

func (c *cursor) callID() CallID {
	v, negative := c.integer()
	if negative {
		v = -v
	}
	return CallID{N: v, Negative: negative}
}
