// SPDX-License-Identifier: Apache-2.0

// Package snippets holds code of the README, to be compiled.
package snippets

import (
	"testing"

	mine "github.com/corepipe/corepipe/transport/inproc"
	"github.com/corepipe/corepipe/transport/transporttest"
)

func TestConformance(t *testing.T) {
	transporttest.Run(t, func(t testing.TB) transporttest.Harness {
		return transporttest.Harness{
			Transport: new(mine.Network),
			Address:   func(testing.TB) string { return "tcp://127.0.0.1:0" },
		}
	})
}
