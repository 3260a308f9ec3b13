// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq_test

import (
	"testing"

	"github.com/corepipe/corepipe/transport/transporttest"
)

func BenchmarkTransport(b *testing.B) {
	for _, scheme := range []string{"ipc", "tcp", "inproc"} {
		b.Run("address="+scheme, func(b *testing.B) {
			transporttest.Bench(b, func(t testing.TB) transporttest.Harness {
				return transporttest.Harness{
					Transport: newTransport(t),
					Address:   func(t testing.TB) string { return address(t, scheme) },
				}
			})
		})
	}
}
