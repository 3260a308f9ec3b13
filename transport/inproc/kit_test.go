// SPDX-License-Identifier: Apache-2.0

package inproc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/transport/inproc"
	"github.com/corepipe/corepipe/transport/transporttest"
)

// unique numbers the addresses; a tcp port is chosen by the network anyway.
func unique(address string) func(testing.TB) string {
	n := 0
	return func(testing.TB) string {
		if strings.HasPrefix(address, "tcp:") {
			return address
		}
		n++
		return fmt.Sprint(address, n)
	}
}

func harness() transporttest.Harness {
	return transporttest.Harness{
		Transport: new(inproc.Network), Address: unique("tcp://127.0.0.1:0"), Messages: 2000,
	}
}

// quickCases are those that make sense on a fake clock: not the one that counts
// the goroutines of the whole process, and not those that spin until real time
// has passed, because a bubble's clock stands still meanwhile.
func quickCases() []transporttest.Case {
	return slices.DeleteFunc(transporttest.Cases(), func(c transporttest.Case) bool {
		return c.Name == "nothing is left behind" ||
			c.Name == "a peer that sends too large a frame is cut off"
	})
}
