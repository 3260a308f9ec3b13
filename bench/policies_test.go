// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/bench/replay"
)

// policies runs the command with few requests.
func policies(t *testing.T, args ...string) outcome {
	t.Helper()
	return execute(t, plain(t), append([]string{"policies", "--requests", "200"}, args...)...)
}

// compared is the JSON of the command.
type compared struct {
	Seed      uint64
	Scenarios []struct {
		Name, About       string
		Engines, Requests int
		Report            float64 `json:"report_s"`
		Span              float64 `json:"span_s"`
		PromptTokens      int     `json:"prompt_tokens"`
		OutputTokens      int     `json:"output_tokens"`
		Results           []*replay.Result
	}
}

func (o outcome) compared(t *testing.T) (c compared) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(o.out))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); o.code != 0 || err != nil || d.More() {
		t.Fatalf("code %d, %v, more: %v, error %q", o.code, err, d.More(), o.err)
	}
	return c
}

func TestPoliciesComparesAllOfThemInEveryScenario(t *testing.T) {
	o := policies(t)
	if o.code != 0 || o.err != "" {
		t.Fatalf("code %d, error %q", o.code, o.err)
	}
	tables := strings.Split(o.out, "\n\n")
	for _, s := range replay.Scenarios() {
		if !strings.Contains(o.out, s.Name+": "+s.About+"\n200 requests in ") {
			t.Errorf("no table of %s", s.Name)
		}
	}
	for _, name := range []string{
		"least-loaded", "least-loaded-legacy", "shortest-wait", "least-tokens", "power-of-two", "round-robin", "random",
		"weighted+least-loaded", "session", "prefix", "session+shortest-wait", "prefix+shortest-wait",
	} {
		if n := strings.Count(o.out, "\n"+name+" "); n != len(replay.Scenarios())+1 {
			t.Errorf("%s is in %d tables, want all %d and the summary", name, n, len(replay.Scenarios()))
		}
	}
	if !strings.Contains(o.out, "next: go run ./bench policies ") || len(tables) < 16 {
		t.Errorf("not what a person needs:\n%s", o.out)
	}
}

func TestPoliciesGivesTheSameEachTime(t *testing.T) {
	real := regexp.MustCompile(`"decisions_per_s": \d+`)
	var outs []string
	for _, seed := range []string{"5", "5", "6"} {
		outs = append(outs, real.ReplaceAllString(policies(t, "--seed", seed, "--json", "-").out, ""))
	}
	if outs[0] != outs[1] {
		t.Error("two runs with the same seed differ in more than real time")
	}
	if outs[0] == outs[2] || len(outs[0]) < 10_000 {
		t.Error("two seeds give the same")
	}
}

func TestPoliciesFlagsChangeTheScenario(t *testing.T) {
	args := "--scenario steady --policy weighted+least-loaded,round-robin --json - --engines 3 --speeds 1,0.5 --report 0 --rate 30 --prompt 100 --output uniform:50:60 " +
		"--prefixes 2 --prefix-tokens 64 --die-at 2s --kv-tokens 8192"
	c := policies(t, strings.Fields(args)...).compared(t)
	s := c.Scenarios[0]
	if len(c.Scenarios) != 1 || s.Engines != 3 || s.Report != 0 || s.PromptTokens != 200*164 || s.OutputTokens < 50*200 || s.OutputTokens > 60*200 {
		t.Errorf("got %+v", s)
	}
	if s.Span < 4 || s.Span > 10 {
		t.Errorf("200 requests in %v s", s.Span)
	}
	r := s.Results[0]
	if r.Policy != "weighted+least-loaded" || len(s.Results) != 2 || r.Failed == 0 || r.Failed+r.Done != 200 || r.PrefixHits < 0.3 {
		t.Errorf("got %+v", r)
	}
	turns := s.Results[1].Engines
	if 2*r.Engines[1].Requests >= r.Engines[2].Requests+r.Engines[0].Requests || turns[1].Requests < turns[2].Requests-1 || turns[1].Requests > turns[2].Requests+1 {
		t.Errorf("requests of a slow engine and a fast one: %+v, by turn %+v", r.Engines, turns)
	}
}

func TestMoreEnginesGetMoreRequests(t *testing.T) {
	few := policies(t, "--scenario", "steady", "--policy", "random", "--json", "-", "--engines", "4").compared(t).Scenarios[0]
	many := policies(t, "--scenario", "steady", "--policy", "random", "--json", "-", "--engines", "8").compared(t).Scenarios[0]
	if got := few.Span / many.Span; got < 1.9 || got > 2.1 {
		t.Errorf("%v s on 4, %v s on 8", few.Span, many.Span)
	}
}

func TestPoliciesReplaysTheTraceThatItWrote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	only := []string{"--policy", "shortest-wait,prefix", "--json", "-"}
	written := policies(t, append(only, "--scenario", "sessions", "--write-trace", path)...).compared(t).Scenarios[0]
	read := execute(t, plain(t), append([]string{"policies", "--trace", path}, only...)...).compared(t).Scenarios[0]
	for i, r := range read.Results {
		r.DecisionsPerSecond, written.Results[i].DecisionsPerSecond = 0, 0
		if got, want := fmt.Sprintf("%+v", *r), fmt.Sprintf("%+v", *written.Results[i]); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if read.Name != "trace.jsonl" || read.Requests != 200 {
		t.Errorf("replayed %+v", read)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if o := policies(t, "--scenario", "sessions", "--write-trace", "-"); o.out != string(text) {
		t.Error("standard output gets another trace than a file")
	}
}

func TestPoliciesDrawsWhatItFound(t *testing.T) {
	if o := execute(t, withPlot(t), "policies", "--plot", "x.gif"); o.code != 2 || !strings.Contains(o.err, "--plot: must end in .svg or .png") {
		t.Errorf("code %d, error %q", o.code, o.err)
	}
	for _, format := range []string{"svg", "png"} {
		path := filepath.Join(t.TempDir(), "plot."+format)
		if o := execute(t, withPlot(t), "policies", "--requests", "200", "--policy", "random,prefix", "--scenario", "steady,prefix", "--plot", path); o.code != 0 {
			t.Fatalf("%s: code %d, error %q", format, o.code, o.err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if format == "png" {
			if image, err := png.Decode(bytes.NewReader(b)); err != nil || image.Bounds().Dx() < 1000 {
				t.Errorf("%v", err)
			}
			continue
		}
		for _, want := range []string{"steady: first token, p99", "prefix: first token, p99", "prefix hits", ">random<", ">prefix<"} {
			if !strings.Contains(string(b), want) {
				t.Errorf("no %q in the drawing", want)
			}
		}
	}
}

func TestWrongFlagsOfPoliciesAreRefusedByName(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte("{\"at\": 0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--scenario calm":                           `--scenario: "calm" is none of steady,`,
		"--policy best":                             `--policy: "best" is none of`,
		"--policy random+prefix":                    `--policy: "random+prefix" is none of`,
		"--policy prefix+best":                      `--policy: "best" is none of`,
		"--trace /nowhere/at/all":                   "open /nowhere/at/all",
		"--trace " + bad:                            "bad.jsonl: replay: line 1: prompt: is missing",
		"--trace x --scenario steady,death":         "--trace: takes one --scenario",
		"--trace x --write-trace y":                 "--write-trace: goes without --trace",
		"--write-trace x":                           "--write-trace: needs one --scenario",
		"--write-trace - --scenario death --json -": "--write-trace: to standard output",
		"--on 1s":             "--on: goes together with --off",
		"--engines 0":         "--engines: must be 1 to",
		"--speeds 1,0":        "Speeds: must be positive",
		"--rate 0.0000000001": "Rate: must be",
		"--prompt many":       "--prompt",
		"--kv-tokens 3":       "KVTokens: must be",
		"--return-at 3s":      "Returns: must be after",
		"--plot x.svg":        "--plot: built without drawing; take: go run -tags plot",
	} {
		o := execute(t, plain(t), append([]string{"policies"}, strings.Fields(args)...)...)
		if o.code != 2 || o.out != "" || !strings.HasPrefix(o.err, "bench: ") || !strings.Contains(o.err, want) {
			t.Errorf("%s: got code %d, output %q, error %q; want 2 and an error with %q", args, o.code, o.out, o.err, want)
		}
	}
}
