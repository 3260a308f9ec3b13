// SPDX-License-Identifier: Apache-2.0

package inproc_test

import (
	"testing"

	"github.com/corepipe/corepipe/transport/inproc"
	"github.com/corepipe/corepipe/transport/transporttest"
)

func BenchmarkTransport(b *testing.B) {
	transporttest.Bench(b, func(testing.TB) transporttest.Harness {
		return transporttest.Harness{Transport: new(inproc.Network), Address: unique("inproc://b")}
	})
}
