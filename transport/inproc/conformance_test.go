// SPDX-License-Identifier: Apache-2.0

package inproc_test

import (
	"testing"

	"github.com/corepipe/corepipe/transport/inproc"
	"github.com/corepipe/corepipe/transport/transporttest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	for name, address := range map[string]string{
		"tcp":  "tcp://127.0.0.1:0",
		"ipc":  "ipc:///run/engine.sock",
		"name": "inproc://engine",
	} {
		t.Run("address="+name, func(t *testing.T) {
			transporttest.Run(t, func(testing.TB) transporttest.Harness {
				h := transporttest.Harness{Transport: new(inproc.Network), Address: unique(address)}
				if name != "tcp" {
					h.Messages = 10_000 // the address makes no difference to them
				}
				return h
			})
		})
	}
}
