// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/corepipe/corepipe/codec"
)

func TestAllocationsOfTheHotPaths(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	l := layout(t, codec.DefaultRelease)
	r := rand.New(rand.NewPCG(1, 2))
	request, outputs := chat(r, 1024), step(r, 256)
	outputs.Rows[7].Finish = codec.FinishStop
	buf := make([]byte, 0, 64<<10)
	payload, _, err := l.AppendOutputs(nil, nil, outputs)
	check(t, err)
	frames := [][]byte{payload}
	withStats, err := l.DecodeOutputs(named(t, "out_stats_full").frames())
	check(t, err)
	for name, c := range map[string]struct {
		most float64
		run  func() error
	}{
		"encoding a request into a warm buffer": {0, func() error { _, _, err := l.AppendRequest(buf[:0], nil, request); return err }},
		"validating a request":                  {0, request.Validate},
		"encoding 256 plain rows":               {0, func() error { _, _, err := l.AppendOutputs(buf[:0], nil, outputs); return err }},
		"decoding 256 plain rows":               {4, func() error { _, err := l.DecodeOutputs(frames); return err }},
		"reading the load":                      {0, func() error { withStats.Load(); return nil }},
	} {
		got := testing.AllocsPerRun(100, func() {
			if err := c.run(); err != nil {
				t.Fatal(err)
			}
		})
		if got > c.most {
			t.Errorf("%s: want at most %v allocations, got %v", name, c.most, got)
		}
	}
}

func TestOutputStaysSmall(t *testing.T) {
	if n := unsafe.Sizeof(codec.Output{}); n > 80 {
		t.Errorf("an Output takes %d bytes", n)
	}
}
