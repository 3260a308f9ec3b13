// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scaleJSON is the JSON of bench scale. The keys are a promise: add to them, change none.
type scaleJSON struct {
	Rounds    int         `json:"rounds"`
	Quick     bool        `json:"quick"`
	CPUs      int         `json:"cpus"`
	Go        string      `json:"go"`
	Transport string      `json:"transport"`
	Scope     string      `json:"cpu_scope"`
	StepTime  float64     `json:"step_time_us"`
	Curves    []curveJSON `json:"curves"`
}

type curveJSON struct {
	Name   string      `json:"name"`
	About  string      `json:"about"`
	Axis   string      `json:"axis"`
	Unit   string      `json:"unit"`
	Points []pointJSON `json:"points"`
}

type pointJSON struct {
	At           int                  `json:"at"`
	Requests     int                  `json:"requests"`
	Concurrency  int                  `json:"concurrency"`
	PromptTokens int                  `json:"prompt_tokens"`
	OutputTokens int                  `json:"output_tokens"`
	AuxBytes     int                  `json:"aux_bytes"`
	Engines      int                  `json:"engines"`
	MaxBatch     int                  `json:"max_batch"`
	Rounds       []map[string]float64 `json:"rounds"`
	Median       map[string]float64   `json:"median"`
	Cost         *spreadOf            `json:"cost"`
	ToFirst      *spreadOf            `json:"to_first"`
	ToBefore     *spreadOf            `json:"to_before"`
	ToCheapest   *spreadOf            `json:"to_cheapest"`
	Added        *spreadOf            `json:"added_cost"`
	Cliff        bool                 `json:"cliff"`
}

func (o outcome) scaled(t *testing.T) (s scaleJSON) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(o.out))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); o.code != 0 || o.err != "" || err != nil || d.More() {
		t.Fatalf("code %d, %v, error %q, output %q", o.code, err, o.err, o.out)
	}
	return s
}

// check says what any measured curve has.
func (v *curveJSON) check(t *testing.T, rounds int) {
	t.Helper()
	for i, p := range v.Points {
		m := p.Median
		if len(p.Rounds) != rounds || len(m) != 9 || m["cost"] <= 0 || m["cpu_us_per_request"] <= 0 || m["requests_per_s"] <= 0 || m["output_tokens_per_s"] <= 0 ||
			m["tokens_per_message"] <= 0 || m["allocated_bytes_per_request"] <= 0 || m["memory_bytes"] <= 0 || m["open_files"] <= 0 || (m["aux_mb_per_s"] > 0) != (p.AuxBytes > 0) {
			t.Errorf("%s at %d: nothing measured: %+v", v.Name, p.At, p)
		}
		if p.Cost.Min > p.Cost.Median || p.Cost.Max < p.Cost.Median || (p.ToFirst != nil) != (i > 0) || (p.ToBefore != nil) != (i > 0) {
			t.Errorf("%s at %d: got %+v", v.Name, p.At, p)
		}
	}
}

func TestCurvesAreMeasuredInMemory(t *testing.T) {
	s := execute(t, plain(t), "scale", "--quick", "--rounds", "2", "--curve", "engines,aux", "--curve", "prompt", "--json", "-").scaled(t)
	if s.Rounds != 2 || !s.Quick || s.Transport != "inproc" || s.Scope != "process" || s.StepTime != 1000 || s.CPUs < 1 || s.Go == "" || len(s.Curves) != 3 {
		t.Fatalf("got %+v", s)
	}
	var at [][]int
	for i := range s.Curves {
		s.Curves[i].check(t, 2)
		at = append(at, nil)
		for _, p := range s.Curves[i].Points {
			at[i] = append(at[i], p.At)
		}
	}
	want := [][]int{{1, 2, 4, 8}, {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20}, {128, 512, 2048, 8192}}
	if d := cmp.Diff(want, at); d != "" {
		t.Error("(-want +got)", d)
	}
	if p := s.Curves[0].Points[3]; p.Engines != 8 || p.Concurrency != 512 || p.Requests != 819 || p.AuxBytes != 0 || p.Added != nil {
		t.Errorf("8 engines: got %+v", p)
	}
	if p := s.Curves[1].Points[5]; p.AuxBytes != 1<<20 || p.Added == nil || p.Median["cost"] != p.Median["cpu_us_per_request"] {
		t.Errorf("1 MiB: got %+v", p)
	}
	if p := s.Curves[2].Points[3]; p.PromptTokens != 8192 || p.Added == nil {
		t.Errorf("8192 tokens: got %+v", p)
	}
}

func TestLiveStreamsOpenNoFiles(t *testing.T) {
	s := execute(t, plain(t), "scale", "--quick", "--rounds", "1", "--curve", "streams", "--json", "-").scaled(t)
	v := s.Curves[0]
	v.check(t, 1)
	first, last := v.Points[0], v.Points[len(v.Points)-1]
	if last.At != 1000 || last.Concurrency != 1000 || last.MaxBatch != 1000 || last.Median["open_files"] > first.Median["open_files"]+1 {
		t.Errorf("got %+v with one stream, then %+v", first, last)
	}
}

// made is a file of made-up rounds: costs at 1, 2, 4 and so on engines.
func made(t *testing.T, costs ...[]float64) string {
	t.Helper()
	v := curveJSON{Name: "engines", About: "made up", Axis: "engines", Unit: "CPU µs/output token"}
	for i, rounds := range costs {
		p := pointJSON{At: 1 << i, OutputTokens: 32, PromptTokens: 128, Engines: 1 << i, Median: map[string]float64{}, Cost: &spreadOf{}}
		for _, c := range rounds {
			p.Rounds = append(p.Rounds, map[string]float64{"cost": c, "open_files": float64(20 + i), "allocated_bytes_per_request": 100})
		}
		v.Points = append(v.Points, p)
	}
	b, err := json.Marshal(scaleJSON{Rounds: len(costs[0]), Transport: "ipc", Scope: "client", Curves: []curveJSON{v}})
	path := filepath.Join(t.TempDir(), "kept.json")
	if err != nil || os.WriteFile(path, b, 0o600) != nil {
		t.Fatal(err)
	}
	return path
}

func TestACliffIsCalledOut(t *testing.T) {
	// The machine is twice as slow in the second round: ratios are those of each round.
	path := made(t, []float64{4, 8, 4}, []float64{2, 4, 2}, []float64{3.9, 7.8, 3.9}, []float64{8.19, 16.38, 8.19}, []float64{8, 16, 10})
	o := execute(t, plain(t), "scale", "--from", path)
	for _, want := range []string{"16 engines: 2.00x (2.00–2.50) the cost of 1.\n", "16 engines: 4.00x (4.00–5.00) the cost of 2, the cheapest.\n",
		"CLIFF at 8: 2.10x the cost of 4.\n", "Open files: 20 to 24.\n", "CPU, memory"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in:\n%s%s", want, o.out, o.err)
		}
	}
	if o.code != 0 || strings.Count(o.out, "CLIFF") != 1 || strings.Contains(o.out, "No cliffs") {
		t.Errorf("code %d:\n%s", o.code, o.out)
	}
	s := execute(t, plain(t), "scale", "--from", path, "--json", "-").scaled(t)
	for i, p := range s.Curves[0].Points {
		if p.Cliff != (i == 3) {
			t.Errorf("at %d: cliff %v", p.At, p.Cliff)
		}
	}
	if d := cmp.Diff(&spreadOf{4, 4, 8}, s.Curves[0].Points[0].Cost); d != "" {
		t.Error("(-want +got)", d)
	}
}

func TestACostThatFallsIsNoCliff(t *testing.T) {
	o := execute(t, plain(t), "scale", "--from", made(t, []float64{100}, []float64{10}, []float64{1}, []float64{1.9}))
	if o.code != 0 || strings.Contains(o.out, "CLIFF") || !strings.Contains(o.out, "No cliffs: no point costs more than 2 times the one before.") {
		t.Errorf("code %d:\n%s%s", o.code, o.out, o.err)
	}
}

func TestCurvesAreDrawn(t *testing.T) {
	path := made(t, []float64{4, 5}, []float64{2, 2}, []float64{9, 8})
	svg, png := filepath.Join(t.TempDir(), "s.svg"), filepath.Join(t.TempDir(), "s.png")
	for _, file := range []string{svg, png} {
		if o := execute(t, withPlot(t), "scale", "--from", path, "--plot", file); o.code != 0 {
			t.Fatalf("code %d: %s", o.code, o.err)
		}
	}
	b, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"engines: CPU µs/output token", "allocated B/request", ">4.50<", ">2.00<", ">8.50<", "#D62728"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in the drawing", want)
		}
	}
	if b, err := os.ReadFile(png); err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("no PNG: %v", err)
	}
}

func TestFlagsOfScaleThatMakeNoSenseAreRefused(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte(`{"walls": 3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	free := made(t, []float64{1}, []float64{0})
	uneven := made(t, []float64{1}, []float64{})
	for args, want := range map[string]string{
		"--rounds 0":                          "--rounds: must be 1 to",
		"--curve bend":                        `--curve: "bend" is none of engines, engines-total,`,
		"--transport udp":                     `--transport: "udp" is not`,
		"--step-time=-1ms":                    "--step-time: must be 0s to 1s",
		"--step-time 2s":                      "--step-time: must be 0s to 1s",
		"--json /nowhere/at/all.json":         "--json: open",
		"--plot x.svg":                        "--plot: built without drawing; take: go run -tags zmq,plot ./bench scale",
		"--from /nowhere":                     "--from: open",
		"--from " + broken:                    "--from: " + broken + ": no result",
		"--from " + free:                      "engines: at 2: the cost must be more than 0",
		"--from " + uneven:                    "has a curve with no rounds",
		"--from " + free + " --quick":         "--from: takes what was measured",
		"--from " + free + " --curve streams": "--from: takes what was measured",
	} {
		o := execute(t, plain(t), append([]string{"scale"}, strings.Fields(args)...)...)
		if o.code != 2 || o.out != "" || !strings.Contains(o.err, want) {
			t.Errorf("%s: code %d, output %q, error %q; want %q", args, o.code, o.out, o.err, want)
		}
	}
	if o := execute(t, plain(t), "scale", "--transport", "ipc"); o.code != 1 || !strings.Contains(o.err, "install libzmq3-dev") {
		t.Errorf("ipc without ZeroMQ: code %d, %s", o.code, o.err)
	}
}
