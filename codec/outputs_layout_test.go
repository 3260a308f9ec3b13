// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

func since(l *codec.Layout) string {
	if l == nil {
		return ""
	}
	return l.Since()
}

// written is a message of one plain row in the layout of a release.
func written(t testing.TB, release string, rows ...codec.Output) []byte {
	t.Helper()
	b, _, err := layout(t, release).AppendOutputs(nil, nil, &codec.Outputs{Rows: rows})
	check(t, err)
	return b
}

func TestOutputsTellTheRelease(t *testing.T) {
	plain := codec.Output{ID: []byte("r"), Tokens: []uint32{7}}
	rare := plain
	rare.SetExtra(&codec.Extra{
		StopReason: "end", TraceHeaders: map[string]string{"a": "b"}, KVTransferParams: map[string]any{"a": 1}, NumCachedTokens: 3,
		PrefillStats: &codec.PrefillStats{NumPromptTokens: 1}, Events: []codec.Event{{Type: codec.EventQueued}}, NumNaNs: 1,
	})
	ranges := map[string][2]string{}
	for _, r := range [][2]string{
		{"0.9.2", "0.10.1"}, {"0.10.2", "0.10.2"}, {"0.11.1", "0.13.0"}, {"0.14.0", "0.15.0"}, {"0.16.0", "0.19.0"}, {"0.20.0", "0.22.0"},
		{"0.26.0", "0.27.0"}, {"0.28.0", "0.28.0"}, {"0.29.0", "0.30.0"}, {"0.31.0", "0.31.0"}, {"0.32.0", "0.32.0"}, {"0.33.0", "0.33.0"},
	} {
		in := false
		for _, release := range everyRelease {
			in = in || release == r[0]
			if in {
				ranges[release] = r
			}
			in = in && release != r[1]
		}
	}
	for _, release := range everyRelease {
		want := ranges[release]
		for _, row := range []codec.Output{plain, rare} {
			oldest, newest, ok := codec.LayoutOfOutputs(written(t, release, row))
			if !ok || since(oldest) != want[0] || since(newest) != want[1] {
				t.Errorf("%s: want %v, got %s, %s, %t", release, want, since(oldest), since(newest), ok)
			}
		}
		want = [2]string{"0.9.2", "0.31.0"}
		if release >= "0.32.0" && len(release) == 6 {
			want = [2]string{"0.32.0", "0.33.0"}
		}
		if oldest, newest, ok := codec.LayoutOfOutputs(written(t, release)); !ok || since(oldest) != want[0] || since(newest) != want[1] {
			t.Errorf("%s without rows: want %v, got %s, %s, %t", release, want, since(oldest), since(newest), ok)
		}
	}
}

func TestOutputsOfRealReleasesTellThem(t *testing.T) {
	files, err := filepath.Glob("testdata/versions/*.json")
	check(t, err)
	for _, file := range files {
		var v released
		readJSON(t, file, &v)
		b, err := hex.DecodeString(v.Outputs.Hex)
		check(t, err)
		l := layout(t, v.Version)
		oldest, newest, ok := codec.LayoutOfOutputs(b)
		if !ok || l.Older(oldest) || newest.Older(l) {
			t.Errorf("%s: got %s to %s, %t", v.Version, since(oldest), since(newest), ok)
		}
	}
	for _, f := range fixtures(t, "output") {
		oldest, newest, ok := codec.LayoutOfOutputs(f.payload)
		if ok != (f.Kind != "output.engine_dead") || ok && (oldest.Since() != "0.32.0" || newest.Positions() < "0.32.0") {
			t.Errorf("%s: got %s to %s, %t", f.Name, since(oldest), since(newest), ok)
		}
	}
}

func TestOutputsOfNoReleaseTellNone(t *testing.T) {
	good := written(t, "0.26.0", codec.Output{ID: []byte("r"), Tokens: []uint32{7}})
	eight := func(rows ...[]byte) []byte {
		return arr(append([][]byte{{0}, arr(rows...)}, nils(6)...)...)
	}
	swapped := append([][]byte{str("r"), {0x90}}, nils(12)...)
	swapped[13] = []byte{0xa1, 'x'} // a string where a number stands.
	for name, b := range map[string][]byte{
		"nothing": nil, "a number": {7}, "a map": {0x80}, "seven fields": arr(nils(7)...), "rows that are no array": arr(nils(8)...),
		"a row of no length that is known":         eight(arr(append([][]byte{str("r"), {0x90}}, nils(13)...)...)),
		"a row of another kind":                    eight(arr(swapped...)),
		"a row of 19 fields in a message of eight": eight(arr(append([][]byte{str("r"), {0x90}}, nils(17)...)...)),
		"half of a message":                        good[:len(good)/2],
		"the sentinel":                             []byte(codec.DeadSentinel),
	} {
		if oldest, newest, ok := codec.LayoutOfOutputs(b); ok || oldest != nil || newest != nil {
			t.Errorf("%s: got %s to %s, %t", name, since(oldest), since(newest), ok)
		}
	}
	// One broken row does not hide what the next one tells.
	fine := append([][]byte{str("r"), {0x90}}, nils(12)...)
	fine[13] = []byte{0}
	if oldest, _, ok := codec.LayoutOfOutputs(eight([]byte{0xc0}, arr(fine...))); !ok || since(oldest) != "0.26.0" {
		t.Errorf("after a broken row: got %s, %t", since(oldest), ok)
	}
}

func TestOutputsOfAReleaseToComeAreTheNewests(t *testing.T) {
	fields := append([][]byte{str("r"), {0x90}}, nils(20)...)
	fields[13] = []byte{0}
	b := arr(append([][]byte{{0}, arr(arr(fields...))}, nils(9)...)...)
	newest := layout(t, "99.0.0")
	if from, to, ok := codec.LayoutOfOutputs(b); !ok || from != newest || to != newest {
		t.Errorf("got %s to %s, %t", since(from), since(to), ok)
	}
}
