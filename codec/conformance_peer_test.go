// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// pythonPeer is a script of testdata that answers one JSON line with another.
// It serves one test at a time.
type pythonPeer struct {
	in  io.Writer
	out *bufio.Reader
}

// question is what the scripts understand; each reads its own part.
type question struct {
	Op       string     `json:"op"`
	Kind     string     `json:"kind,omitempty"`
	Release  string     `json:"release,omitempty"`
	Frames   []string   `json:"frames,omitempty"`
	Seed     int        `json:"seed"`
	Way      string     `json:"way,omitempty"`
	Messages [][]string `json:"messages,omitempty"`
	Seconds  float64    `json:"seconds,omitempty"`
}

type answer struct {
	Error    string
	Value    any      // the message as Python read or made it.
	Frames   []string // as Python writes it.
	Unknown  []string // keys of the sampling parameters that the release lacks.
	Releases []string
	Release  string
	Msgspec  string
	NS       float64
}

// startPython runs a script until the test ends. It skips, loudly, without an
// interpreter: what is left out is then named in the log and by .ci/test.
func startPython(t testing.TB, python, script string) *pythonPeer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python, "-B", "testdata/"+script)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &pythonPeer{in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

func startMsgspec(t testing.TB) *pythonPeer {
	t.Helper()
	python := os.Getenv("COREPIPE_PYTHON")
	if python == "" {
		t.Skip("LEFT OUT: conformance with msgspec: COREPIPE_PYTHON names no Python that has it (.ci/test makes one)")
	}
	return startPython(t, python, "conformance.py")
}

// failer is what *testing.T and *rapid.T have in common here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// try asks and gives the answer, also one that says no.
func (p *pythonPeer) try(t failer, q question) answer {
	t.Helper()
	line, err := json.Marshal(q)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		t.Fatalf("python does not listen: %v", err)
	}
	text, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("python does not answer: %v", err)
	}
	var a answer
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		t.Fatalf("python answers %.200s: %v", text, err)
	}
	return a
}

func (p *pythonPeer) ask(t failer, q question) answer {
	t.Helper()
	a := p.try(t, q)
	if a.Error != "" {
		t.Fatalf("%s %s %s: python says: %s\n%.2000s", q.Op, q.Kind, q.Release, a.Error, fmt.Sprint(q.Frames))
	}
	return a
}

func (a *answer) frames(t failer) [][]byte {
	t.Helper()
	out := make([][]byte, len(a.Frames))
	for i, s := range a.Frames {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatalf("%v", err)
		}
		out[i] = b
	}
	return out
}

func hexFrames(payload []byte, aux ...[]byte) []string {
	out := []string{hex.EncodeToString(payload)}
	for _, b := range aux {
		out = append(out, hex.EncodeToString(b))
	}
	return out
}

// wireFields are the fields of each struct in one release, in their order.
type wireFields map[string][]string

func fieldsOf(t testing.TB, release string) wireFields {
	t.Helper()
	var all struct {
		Structs map[string][]struct {
			Since  string
			Fields [][3]*string
			Values [][2]string
		}
	}
	readJSON(t, "layouts.json", &all)
	out := wireFields{}
	for name, entries := range all.Structs {
		for _, e := range entries {
			if newer(t, e.Since, release) {
				break
			}
			out[name] = nil
			for _, f := range e.Fields {
				out[name] = append(out[name], *f[0])
			}
			for _, v := range e.Values {
				out[name] = append(out[name], v[0])
			}
		}
	}
	out["PrefixCacheStats"] = append(out["PrefixCacheStats"], out["BaseCacheStats"]...)
	return out
}

// newer compares releases by their numbers.
func newer(t testing.TB, a, b string) bool {
	t.Helper()
	var x, y [3]int
	for s, v := range map[string]*[3]int{a: &x, b: &y} {
		if _, err := fmt.Sscanf(s, "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil {
			t.Fatalf("release %s: %v", s, err)
		}
	}
	for i := range x {
		if x[i] != y[i] {
			return x[i] > y[i]
		}
	}
	return false
}

// outputsOf decodes and reads every part that is decoded when asked for.
func outputsOf(t failer, l *codec.Layout, frames [][]byte) *codec.Outputs {
	t.Helper()
	o, err := l.DecodeOutputs(frames)
	if err != nil {
		t.Fatalf("outputs of %s: %v", l.Since(), err)
	}
	for i := range o.Rows {
		if o.Rows[i].Err != nil {
			t.Fatalf("outputs of %s: %v", l.Since(), o.Rows[i].Err)
		}
	}
	return o
}
