// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// fixture is one message made by real vLLM classes; testdata has them all.
type fixture struct {
	Name   string
	Kind   string
	Frames []struct{ File, Role string }
	Value  any
	Raw    any

	payload []byte
	aux     [][]byte
}

// frames are the payload and the tensor frames.
func (f *fixture) frames() [][]byte { return append([][]byte{f.payload}, f.aux...) }

// fixtures reads those whose kind has one of the prefixes; all without any.
func fixtures(t testing.TB, kinds ...string) []*fixture {
	t.Helper()
	var manifest struct{ Cases []*fixture }
	readJSON(t, "testdata/manifest.json", &manifest)
	var out []*fixture
	for _, f := range manifest.Cases {
		wanted := len(kinds) == 0
		for _, k := range kinds {
			wanted = wanted || strings.HasPrefix(f.Kind, k)
		}
		if !wanted {
			continue
		}
		for _, frame := range f.Frames {
			b, err := os.ReadFile(filepath.Join("testdata", frame.File))
			if err != nil {
				t.Fatal(err)
			}
			switch frame.Role {
			case "payload", "raw":
				f.payload = b
			case "aux":
				f.aux = append(f.aux, b)
			}
		}
		out = append(out, f)
	}
	return out
}

func named(t testing.TB, name string) *fixture {
	t.Helper()
	for _, f := range fixtures(t) {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no fixture %s", name)
	return nil
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func layout(t testing.TB, release string) *codec.Layout {
	t.Helper()
	l, err := codec.LayoutOf(release)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// release is the one that a fixture's layout belongs to.
func (f *fixture) release() string {
	switch {
	case strings.HasPrefix(f.Name, "skew_0191"):
		return "0.19.1"
	case strings.HasPrefix(f.Name, "skew_0330"):
		return "0.33.0"
	}
	return codec.DefaultRelease
}
