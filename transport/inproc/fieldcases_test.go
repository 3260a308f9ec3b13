// SPDX-License-Identifier: Apache-2.0

package inproc_test

import (
	"runtime"
	"testing"

	"github.com/corepipe/corepipe/transport"
)

// The number is that of the collection of public bug reports that this case comes from.

func TestX3ALargeSharedFrameIsNotCopied(t *testing.T) {
	const size, n, most = 16 << 20, 8, 0.1
	p := newPair(t, nil)
	tensor := make([]byte, size)
	packet := transport.Packet{Peer: "e", Frames: [][]byte{{0}, make([]byte, 1000), tensor}, Shared: 2}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		if err := p.router.Send(packet); err != nil {
			t.Fatal(err)
		}
		got, err := p.dealer.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Frames) != 3 || len(got.Frames[2]) != size {
			t.Fatalf("got %d frames, want 3", len(got.Frames))
		}
	}
	runtime.ReadMemStats(&after)
	each := float64(after.TotalAlloc-before.TotalAlloc) / n / size
	t.Logf("both ends allocate %.5f times the frame", each)
	if each > most {
		t.Errorf("both ends allocate %.3f times the frame, want at most %v", each, most)
	}
}
