// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/bench/load"
	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
)

func TestATensorGoesWithEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen [][]byte
		sim := paced()
		sim.Script = func(_ int, r *codec.Request) engine.Outcome {
			for _, f := range r.MMFeatures {
				seen = append(seen, f.Data[0].Value.(*codec.Tensor).Data)
			}
			return engine.Outcome{}
		}
		r := run(t, load.Config{Requests: 20, Concurrency: 2, OutputTokens: 2, AuxBytes: 5000, Verify: true}, sim)
		if r.Done != 20 || r.AuxBytes != 5000 || len(seen) != 20 {
			t.Fatalf("%d tensors, %+v", len(seen), r)
		}
		for i, b := range seen {
			if len(b) != 5000 || bytes.Count(b, []byte{0}) > 100 {
				t.Errorf("tensor %d: %d bytes, %d of them zero; want 5000 random ones", i, len(b), bytes.Count(b, []byte{0}))
			}
		}
		if bytes.Equal(seen[0], seen[1]) {
			t.Error("all tensors are the same one")
		}
	})
}

// In both loops: one has a slot for each request, the other none.
func TestWhatThisProcessTakesIsToldWithAnyResult(t *testing.T) {
	for name, run := range map[string]func(*testing.T, load.Config, ...engine.Core) *load.Result{"streams": run, "raw": runRaw} {
		t.Run(name, func(t *testing.T) {
			before := run(t, load.Config{Requests: 50, OutputTokens: 2}, &engine.Sim{})
			for i := range 10 {
				f, err := os.Create(filepath.Join(t.TempDir(), string(rune('a'+i))))
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
			}
			r := run(t, load.Config{Requests: 50, OutputTokens: 2}, &engine.Sim{})
			if _, err := os.Stat("/dev/fd"); err == nil && (before.OpenFiles < 3 || r.OpenFiles != before.OpenFiles+10) {
				t.Errorf("%d open files, then %d with 10 more", before.OpenFiles, r.OpenFiles)
			}
			if r.Allocated < 100 || r.Allocated > 1<<20 || r.Memory < 1<<20 {
				t.Errorf("got %v bytes a request, %v in all", r.Allocated, r.Memory)
			}
		})
	}
}
