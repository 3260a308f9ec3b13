// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/bench/wire"
	"github.com/corepipe/corepipe/codec"
)

const testdata = "../../codec/testdata/"

// fixture is a message made by real vLLM classes.
type fixture struct {
	Name   string
	Kind   string
	Frames []struct{ File, Role string }
	Value  any

	all [][]byte
}

func fixtures(t testing.TB) []*fixture {
	t.Helper()
	var manifest struct{ Cases []*fixture }
	readJSON(t, testdata+"manifest.json", &manifest)
	for _, f := range manifest.Cases {
		for _, frame := range f.Frames {
			b, err := os.ReadFile(testdata + frame.File)
			check(t, err)
			f.all = append(f.all, b)
		}
	}
	return manifest.Cases
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	check(t, err)
	parse(t, b, v)
}

func parse(t testing.TB, b []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// payload is the frame after the type byte, if there is one.
func (f *fixture) payload() []byte {
	if len(f.all) > 1 && len(f.all[0]) == 1 {
		return f.all[1]
	}
	return f.all[0]
}

// kind is set for fixtures whose payload does not tell what it is.
func (f *fixture) kind() wire.Kind {
	if f.Kind == "coordinator.first_req" {
		return wire.Coordinator
	}
	return ""
}

func (f *fixture) release() string {
	switch f.Name {
	case "skew_0191_output":
		return "0.19.1"
	case "skew_0330_output_error":
		return "0.33.0"
	}
	return codec.DefaultRelease
}

func TestEveryFixtureIsShownWithItsNamesAndComesBack(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.Name, func(t *testing.T) {
			m, err := wire.Decode(f.all, wire.Options{Kind: f.kind(), Release: f.release()})
			check(t, err)
			if want := f.expected(); m.Kind != want {
				t.Errorf("want kind %s, got %s", want, m.Kind)
			}
			var doc struct{ Message any }
			text := m.Append(nil, false)
			parse(t, text, &doc)
			if f.Value != nil && f.Name != "uout_insecure_struct" { // whose result is a struct for Python alone
				matchNames(t, "message", f.want(), doc.Message)
			}
			comesBack(t, m, text, f.all)
		})
	}
}

// expected is the kind by the manifest.
func (f *fixture) expected() wire.Kind {
	for prefix, k := range map[string]wire.Kind{
		"request.add": wire.Request, "request.abort": wire.Abort, "request.utility": wire.Utility,
		"coordinator.start_dp_wave": wire.Wave, "coordinator.ready": wire.Wave,
		"output": wire.Outputs, "coordinator.engine_stats": wire.Outputs, "coordinator.wave_complete": wire.Outputs,
		"coordinator.start_wave": wire.Outputs, "skew.output": wire.Outputs,
		"handshake.hello": wire.Handshake, "handshake.ready": wire.Handshake, "skew.handshake": wire.Handshake,
		"handshake.init": wire.Init, "ready": wire.Ready, "skew.ready": wire.Ready,
		"coordinator.stats": wire.Counts, "skew.coordinator": wire.Counts,
		"coordinator.first_req": wire.Coordinator, "coordinator.scale": wire.Coordinator,
		"coordinator.subscribe": wire.Coordinator, "coordinator.unsubscribe": wire.Coordinator,
	} {
		if strings.HasPrefix(f.Kind, prefix) {
			return k
		}
	}
	return ""
}

// want is the manifest's value in the shape of a message.
func (f *fixture) want() any {
	if f.Kind == "skew.output" {
		return map[string]any{"outputs": []any{f.Value}}
	}
	return f.Value
}

// comesBack holds that a document makes the message it was made of.
func comesBack(t *testing.T, m *wire.Message, text []byte, frames [][]byte) {
	t.Helper()
	again, err := wire.Parse(text, wire.Options{})
	check(t, err)
	got := again[0].Frames()
	if a, b := generic(m.Kind, frames), generic(m.Kind, got); !reflect.DeepEqual(a, b) {
		t.Errorf("encoded again: %s", cmp.Diff(a, b))
	}
	if text2 := again[0].Append(nil, false); !bytes.Equal(text, text2) {
		t.Errorf("encoded and decoded again: %s", cmp.Diff(string(text), string(text2)))
	}
}

// generic decodes a payload without any knowledge of messages.
func generic(k wire.Kind, frames [][]byte) []any {
	out := make([]any, len(frames))
	for i, f := range frames {
		out[i] = f
	}
	for i, f := range frames {
		if len(f) > 2 || k == wire.Value || len(f) == 1 && f[0] == 0x90 {
			if v, err := codec.DecodeValue(f); err == nil {
				out[i] = v
			}
			break
		}
	}
	return out
}

func TestEveryReleaseIsShownWithItsNamesAndComesBack(t *testing.T) {
	files, err := filepath.Glob(testdata + "versions/*.json")
	check(t, err)
	if len(files) == 0 {
		t.Fatal("no releases")
	}
	for _, file := range files {
		var v released
		readJSON(t, file, &v)
		t.Run(v.Version, func(t *testing.T) {
			v.matchRequests(t)
			v.matchOutputs(t)
			v.matchGuess(t)
		})
	}
}

// released is three messages made by the classes of a release.
type released struct {
	Version string
	Fields  map[string][]string
	Add     struct {
		Values map[string]any
		Hex    string
	}
	AddPooling struct{ Hex string } `json:"add_pooling"`
	Outputs    struct {
		Values map[string]any
		Hex    string
	}
}

func (v *released) matchRequests(t *testing.T) {
	add := oneOfRelease(t, wire.Request, v.Version, v.Add.Hex)
	sameKeys(t, v.Fields["EngineCoreRequest"], add)
	sameKeys(t, v.Fields["LoRARequest"], add["lora_request"].(map[string]any))
	delete(v.Add.Values, "lora_request") // a list there, and named here
	matchNames(t, "add", v.Add.Values, add)
	pooling := oneOfRelease(t, wire.Request, v.Version, v.AddPooling.Hex)
	sameKeys(t, v.Fields["PoolingParams"], pooling["pooling_params"].(map[string]any))
}

// matchGuess holds that a request is read without its release being said: as
// one of its release, or of another that has the same length and can read it.
func (v *released) matchGuess(t *testing.T) {
	payload, err := hex.DecodeString(v.Add.Hex)
	check(t, err)
	m, err := wire.Decode([][]byte{payload}, wire.Options{})
	check(t, err)
	if m.Kind != wire.Request || len(m.Check()) > 0 {
		t.Errorf("taken for a %s of %s: %v", m.Kind, m.Release, m.Check())
	}
}

func (v *released) matchOutputs(t *testing.T) {
	outputs := oneOfRelease(t, wire.Outputs, v.Version, v.Outputs.Hex)
	sameKeys(t, v.Fields["EngineCoreOutputs"], outputs)
	row := outputs["outputs"].([]any)[0].(map[string]any)
	sameKeys(t, v.Fields["EngineCoreOutput"], row)
	matchNames(t, "row", v.Outputs.Values, row)
}

func oneOfRelease(t *testing.T, k wire.Kind, release, text string) map[string]any {
	t.Helper()
	payload, err := hex.DecodeString(text)
	check(t, err)
	m, err := wire.Decode([][]byte{payload}, wire.Options{Kind: k, Release: release})
	check(t, err)
	if len(m.Notes()) > 0 || len(m.Check()) > 0 {
		t.Errorf("%s: notes %q, faults %v", k, m.Notes(), m.Check())
	}
	var doc struct{ Message map[string]any }
	shown := m.Append(nil, false)
	parse(t, shown, &doc)
	comesBack(t, m, shown, [][]byte{payload})
	return doc.Message
}

func sameKeys(t *testing.T, want []string, got map[string]any) {
	t.Helper()
	have := map[string]bool{}
	for k := range got {
		have[k] = true
	}
	for _, k := range want {
		if !have[k] {
			t.Errorf("no %s", k)
		}
		delete(have, k)
	}
	if len(have) > 0 {
		t.Errorf("too much: %v", have)
	}
}
