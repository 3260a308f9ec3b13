// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/codec"
)

// vllmPeer is a real vLLM, whose release decides the layout.
type vllmPeer struct {
	*pythonPeer
	release string
	layout  *codec.Layout
	fields  wireFields
	asked   int
}

func TestConformanceWithVLLM(t *testing.T) {
	dir := os.Getenv("COREPIPE_VLLM")
	if dir == "" {
		t.Skip("LEFT OUT: conformance with vLLM's own decoder: COREPIPE_VLLM names no virtual environment that has vLLM")
	}
	p := &vllmPeer{pythonPeer: startPython(t, filepath.Join(dir, "bin", "python"), "conformance_vllm.py")}
	p.release = p.ask(t, question{Op: "releases"}).Release
	p.layout, p.fields = layout(t, p.release), fieldsOf(t, p.release)
	t.Run("every request of the fixtures", p.fixtures)
	t.Run("every request of all releases", p.versions)
	t.Run("any valid request", p.requests)
	t.Run("any outputs", p.outputs)
	t.Logf("vllm %s: %d messages accepted on both sides", p.release, p.asked)
}

// accepts asks vLLM to decode a request of ours, and compares what it then
// writes itself with it. A release may lack a field: then it is not sent.
func (p *vllmPeer) accepts(t failer, r *codec.Request) {
	t.Helper()
	b, aux, err := p.layout.AppendRequest(nil, nil, r)
	if errors.Is(err, codec.ErrUnsupported) {
		return
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	p.asked++
	a := p.ask(t, question{Op: "decode", Kind: "request", Frames: hexFrames(b, aux...)})
	again, err := p.layout.DecodeRequest(a.frames(t))
	if err != nil {
		t.Fatalf("vLLM's request is refused: %v", err)
	}
	if d := conform(a.Value, again); d != nil {
		t.Fatalf("vLLM's request:\n%s", strings.Join(d, "\n"))
	}
	if d := cmp.Diff(normal(r), normal(again), cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("comes back from vLLM as: %s", d)
	}
}

// normal is a copy without what vLLM decides while it decodes: it fills these, and its
// numbers at temperature 0, and makes a set of the stop tokens.
func normal(r *codec.Request) *codec.Request {
	c := *r
	if c.Pooling != nil {
		p := *c.Pooling
		c.Pooling, p.SkipReadingPrefixCache = &p, nil
	}
	if c.Sampling == nil {
		return &c
	}
	s := *c.Sampling
	c.Sampling, s.SkipReadingPrefixCache, s.AllStopTokenIDs, s.OutputTextBufferLength = &s, nil, nil, 0
	s.StopTokenIDs = slices.Compact(slices.Sorted(slices.Values(s.StopTokenIDs)))
	if s.Temperature != nil && *s.Temperature < 1e-5 {
		s.TopP, s.TopK, s.MinP = nil, 0, 0
	}
	return &c
}

func (p *vllmPeer) fixtures(t *testing.T) {
	for _, f := range fixtures(t, "request.add") {
		t.Run(f.Name, func(t *testing.T) {
			r, err := layout(t, f.release()).DecodeRequest(f.frames())
			check(t, err)
			p.accepts(t, r)
		})
	}
	if p.asked < 15 {
		t.Errorf("vllm %s was asked %d requests only", p.release, p.asked)
	}
}

func (p *vllmPeer) versions(t *testing.T) {
	files, err := filepath.Glob("testdata/versions/*.json")
	check(t, err)
	for _, file := range files {
		var v released
		readJSON(t, file, &v)
		for _, text := range []string{v.Add.Hex, v.AddPooling.Hex} {
			b, err := hex.DecodeString(text)
			check(t, err)
			r, err := layout(t, v.Version).DecodeRequest([][]byte{b})
			check(t, err)
			p.accepts(t, r)
		}
	}
}

func (p *vllmPeer) requests(t *testing.T) {
	d := drawer{wire: p.fields, drawn: map[string]bool{}}
	rapid.Check(t, func(t *rapid.T) {
		d.t = t
		r := d.request()
		if err := r.Validate(); err != nil {
			t.Fatalf("drawn, and refused: %v", err)
		}
		p.accepts(t, r)
	})
}

func (p *vllmPeer) outputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p.asked++
		a := p.ask(t, question{Op: "sample", Kind: "outputs", Seed: rapid.IntRange(0, 1<<30).Draw(t, "seed")})
		if d := conform(a.Value, outputsOf(t, p.layout, a.frames(t))); d != nil {
			t.Fatalf("vLLM's outputs:\n%s", strings.Join(d, "\n"))
		}
	})
}
