// SPDX-License-Identifier: Apache-2.0

package inproc_test

import (
	"fmt"
	"strings"
	"testing"
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
