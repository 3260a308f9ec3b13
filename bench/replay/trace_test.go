// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/bench/replay"
)

func TestATraceIsReadInOrderOfArrival(t *testing.T) {
	got, err := replay.Read(strings.NewReader(`
{"at": 2, "prompt": 10, "output": 3}
{"at": 0.5, "prompt": [7, 8, 9], "output": 1, "max_tokens": 100}

{"output": 4, "prompt": 20, "at": 0.5, "session": "s", "prefix": "p", "prefix_tokens": 16}
`))
	want := replay.Trace{
		{At: ms(500), Prompt: 3, Tokens: []uint32{7, 8, 9}, Output: 1, MaxTokens: 100},
		{At: ms(500), Prompt: 20, Output: 4, Session: "s", Prefix: "p", PrefixTokens: 16},
		{At: ms(2000), Prompt: 10, Output: 3},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
}

func TestAWrongLineIsRefusedByNumber(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"no JSON":                    {`at 1`, "invalid character"},
		"an unknown key":             {`{"at": 0, "prompt": 1, "output": 1, "outputs": 2}`, `json: unknown field "outputs"`},
		"two values":                 {`{"at": 0, "prompt": 1, "output": 1} {}`, "more than one value"},
		"a time before the start":    {`{"at": -1, "prompt": 1, "output": 1}`, "at: must be 0 to"},
		"a time far away":            {`{"at": 1e300, "prompt": 1, "output": 1}`, "at: must be 0 to"},
		"no prompt":                  {`{"at": 0, "output": 1}`, "prompt: is missing"},
		"an empty prompt":            {`{"at": 0, "prompt": [], "output": 1}`, "prompt: must have 1 to"},
		"a prompt of no tokens":      {`{"at": 0, "prompt": 0, "output": 1}`, "prompt: must have 1 to"},
		"a prompt that is text":      {`{"at": 0, "prompt": "x", "output": 1}`, "prompt: json"},
		"a token id that is none":    {`{"at": 0, "prompt": [-1], "output": 1}`, "prompt: json"},
		"an endless prompt":          {`{"at": 0, "prompt": 2000000, "output": 1}`, "prompt: must have 1 to"},
		"no output":                  {`{"at": 0, "prompt": 1}`, "output: must be 1 to"},
		"an endless output":          {`{"at": 0, "prompt": 1, "output": 2000000}`, "output: must be 1 to"},
		"a negative bound":           {`{"at": 0, "prompt": 1, "output": 1, "max_tokens": -1}`, "max_tokens: must not"},
		"a prefix beyond the prompt": {`{"at": 0, "prompt": 1, "output": 1, "prefix": "p", "prefix_tokens": 2}`, "prefix_tokens: must be 0 to 1,"},
		"a prefix without a name":    {`{"at": 0, "prompt": 1, "output": 1, "prefix_tokens": 1}`, "prefix_tokens: goes with"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := replay.Read(strings.NewReader("\n{\"at\": 0, \"prompt\": 1, \"output\": 1}\n" + c.line))
			wrong, ok := errors.AsType[*replay.TraceError](err)
			if !ok || wrong.Line != 3 || !strings.HasPrefix(err.Error(), "replay: line 3: "+c.want) {
				t.Errorf("got %v, want line 3: %s", err, c.want)
			}
		})
	}
	if _, err := replay.Read(strings.NewReader("\n\n")); !errors.Is(err, replay.ErrEmptyTrace) {
		t.Errorf("an empty trace: %v", err)
	}
}

func TestATraceIsTheSameAfterItWasWrittenAndRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := replay.Workload{
			Requests: 50, Rate: rapid.Float64Range(0.1, 1e5).Draw(t, "rate"),
			Prefixes: rapid.IntRange(0, 2).Draw(t, "prefixes"), Turns: rapid.IntRange(0, 3).Draw(t, "turns"),
		}
		want, err := w.Trace(rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		want[0].Prompt, want[0].Tokens, want[0].PrefixTokens = 2, []uint32{0, 1<<32 - 1}, 0
		var b bytes.Buffer
		if err := want.Write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := replay.Read(&b)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"at": 0.5, "prompt": [7, 8, 9], "output": 1, "max_tokens": 100}` + "\n" +
		`{"at": 0.5, "prompt": 20, "output": 4, "session": "s", "prefix": "p", "prefix_tokens": 16}`))
	f.Add([]byte(`{"at": 1e6, "prompt": 1048576, "output": 1048576}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		trace, err := replay.Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		var before time.Duration
		tokens := 0
		for _, q := range trace {
			if q.At < before {
				t.Fatalf("%v after %v", q.At, before)
			}
			before = q.At
			tokens += q.Prompt + q.Output
		}
		if tokens > 1<<16 {
			return
		}
		if r := run(t, replay.Fleet{}, trace, first()); r.Done+r.Failed != len(trace) {
			t.Fatalf("%d done and %d failed of %d", r.Done, r.Failed, len(trace))
		}
	})
}

func TestAWrongFleetOrTraceIsRefused(t *testing.T) {
	good := replay.Trace{{Prompt: 1, Output: 1}}
	for name, c := range map[string]struct {
		fleet replay.Fleet
		trace replay.Trace
		want  string
	}{
		"no requests":               {replay.Fleet{}, nil, "replay: no requests"},
		"a request without prompt":  {replay.Fleet{}, replay.Trace{{Output: 1}}, "replay: request 0: prompt: must have"},
		"a request before its time": {replay.Fleet{}, replay.Trace{{At: 1, Prompt: 1, Output: 1}, {Prompt: 1, Output: 1}}, "replay: request 1: at: is before"},
		"tokens of another length":  {replay.Fleet{}, replay.Trace{{Prompt: 2, Output: 1, Tokens: []uint32{1}}}, "replay: request 0: prompt: 1 token ids"},
		"a negative number":         {replay.Fleet{Engines: -1}, good, "replay: Fleet.Engines: must be 1 to"},
		"an engine that stands":     {replay.Fleet{Speeds: []float64{1, 0}}, good, "replay: Fleet.Speeds: must be positive"},
		"a negative report":         {replay.Fleet{Report: -1}, good, "replay: Fleet.Report: must not"},
		"back before it died":       {replay.Fleet{Dies: 2, Returns: 1}, good, "replay: Fleet.Returns: must be after"},
		"time that runs back":       {replay.Fleet{Model: replay.Model{StepTime: -1}}, good, "replay: Model: a time is"},
		"no batch":                  {replay.Fleet{Model: replay.Model{MaxBatch: -1}}, good, "replay: Model.MaxBatch: must"},
		"no budget":                 {replay.Fleet{Model: replay.Model{MaxBatchedTokens: -1}}, good, "replay: Model.MaxBatchedTokens: must"},
		"no cache":                  {replay.Fleet{Model: replay.Model{KVTokens: 15}}, good, "replay: Model.KVTokens: must"},
	} {
		if _, err := replay.Run(t.Context(), c.fleet, c.trace, first()); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}
