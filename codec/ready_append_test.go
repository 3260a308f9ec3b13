// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
)

// readyKeys are the keys of the ready message by release, as layouts.json has them.
func readyKeys(t *testing.T) map[string][]string {
	t.Helper()
	var all struct {
		Structs map[string][]struct {
			Since  string
			Fields [][]any
		}
	}
	readJSON(t, "layouts.json", &all)
	keys := map[string][]string{}
	for _, e := range all.Structs["EngineCoreReadyResponse"] {
		for _, f := range e.Fields {
			keys[e.Since] = append(keys[e.Since], f[0].(string))
		}
	}
	return keys
}

func TestAReadyMessageHasTheKeysOfItsRelease(t *testing.T) {
	for release, want := range readyKeys(t) {
		t.Run(release, func(t *testing.T) {
			r := codec.Ready{MaxModelLen: 1, DType: "bfloat16", Version: release}
			whole, err := layout(t, release).AppendReady([]byte("before"), &r)
			check(t, err)
			b, ok := strings.CutPrefix(string(whole), "before")
			if want == nil {
				if !ok || b != "" {
					t.Errorf("got % x, want nothing", b)
				}
				return
			}
			v, err := codec.DecodeValue([]byte(b))
			check(t, err)
			if d := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(maps.Keys(v.(map[string]any)))); d != "" {
				t.Error(d)
			}
			got, err := codec.DecodeReady([]byte(b))
			check(t, err)
			if l := got.Layout(); l != layout(t, release) && release != "0.20.0" { // of which three look alike
				t.Errorf("read as %s", l.Since())
			}
		})
	}
}

func TestAReadyMessageOfAReleaseWithinALayout(t *testing.T) {
	keys := func(l, version string) int {
		b, err := layout(t, l).AppendReady(nil, &codec.Ready{Version: version})
		check(t, err)
		v, err := codec.DecodeValue(b)
		check(t, err)
		return len(v.(map[string]any))
	}
	for _, c := range []struct {
		name, layout, version string
		keys                  int
	}{
		{"the version tells more closely", "0.22.0", "0.25.1", 10},
		{"a build of it does too", "0.22.0", "v0.23.0rc1+cpu", 6},
		{"without one it is the first", "0.22.0", "", 4},
		{"one of another layout does not count", "0.22.0", "0.33.0", 4},
		{"nor does one that cannot be read", "0.32.0", "main", 25},
		{"a newer one is the newest", "0.33.0", "1.2.0", 28},
	} {
		if got := keys(c.layout, c.version); got != c.keys {
			t.Errorf("%s: %d keys, want %d", c.name, got, c.keys)
		}
	}
}
