// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAComparisonIsDrawn(t *testing.T) {
	f := newFakes(t)
	f.rounds(t, "floor", "floor", floorResult(1000, 1), floorResult(2000, 3), floorResult(1000, 1), floorResult(2000, 3))
	f.rounds(t, "venv/bin/python", "vllm", vllmResult(500, 4), vllmResult(700, 5), vllmResult(500, 4), vllmResult(700, 5))
	svg, png := filepath.Join(f.directory, "c.svg"), filepath.Join(f.directory, "c.PNG")
	for _, path := range []string{svg, png} {
		if o := execute(t, withPlot(t), f.args("floor,vllm", "--rounds", "2", "--plot", path)...); o.code != 0 {
			t.Fatalf("code %d: %s", o.code, o.err)
		}
	}
	b, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"100 × (4096 → 128), engines: 1, ipc, step 1ms", "CPU, µs a request", "floor", "client", "256", "576", "1500", "600"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in the drawing", want)
		}
	}
	if b, err := os.ReadFile(png); err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("no PNG: %v", err)
	}
	if o := execute(t, withPlot(t), f.args("floor", "--plot", "c.pdf")...); o.code != 2 || !strings.Contains(o.err, "--plot: must end in .svg or .png") {
		t.Errorf("code %d: %s", o.code, o.err)
	}
}
