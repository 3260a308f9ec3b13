// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// compareJSON is the JSON of bench compare. The keys are a promise: add to them, change none.
type compareJSON struct {
	Rounds int    `json:"rounds"`
	Quick  bool   `json:"quick"`
	CPUs   int    `json:"cpus"`
	Go     string `json:"go"`
	Blocks []struct {
		Requests     int              `json:"requests"`
		Concurrency  int              `json:"concurrency"`
		PromptTokens int              `json:"prompt_tokens"`
		OutputTokens int              `json:"output_tokens"`
		Engines      int              `json:"engines"`
		Transport    string           `json:"transport"`
		StepTime     int              `json:"step_us"`
		Clients      []comparedClient `json:"clients"`
	} `json:"blocks"`
}

type comparedClient struct {
	Name    string           `json:"name"`
	Scope   string           `json:"cpu_scope"`
	Rounds  []map[string]any `json:"rounds"`
	Median  map[string]any   `json:"median"`
	ToFloor *comparedRatios  `json:"to_floor"`
	ToVLLM  *comparedRatios  `json:"to_vllm"`
}

type comparedRatios struct {
	Requests spreadOf  `json:"requests_per_s"`
	CPU      *spreadOf `json:"cpu_us_per_request"`
}

type spreadOf struct{ Median, Min, Max float64 }

func (o outcome) comparedClients(t *testing.T) *compareJSON {
	t.Helper()
	if o.code != 0 || o.err != "" {
		t.Fatalf("exit code %d, standard error: %s", o.code, o.err)
	}
	c := &compareJSON{}
	d := json.NewDecoder(strings.NewReader(o.out))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil || d.More() {
		t.Fatalf("%v in %s", err, o.out)
	}
	return c
}

func TestRatiosAreOfTheRoundsAndClientsTakeTurns(t *testing.T) {
	f := newFakes(t)
	f.rounds(t, "floor", "floor", floorResult(1000, 1), floorResult(2000, 2), floorResult(1000, 3), floorResult(1000, 1))
	f.rounds(t, "venv/bin/python", "vllm", vllmResult(500, 4), vllmResult(500, 4), vllmResult(250, 6), vllmResult(300, 8))
	c := execute(t, plain(t), f.args("vllm,floor", "--rounds", "4", "--json", "-")...).comparedClients(t)
	b := c.Blocks[0]
	if len(c.Blocks) != 1 || b.Requests != 100 || b.Concurrency != 64 || b.PromptTokens != 4096 || b.OutputTokens != 128 ||
		b.Engines != 1 || b.Transport != "ipc" || b.StepTime != 1000 || c.Rounds != 4 || !c.Quick {
		t.Errorf("got %+v", c)
	}
	floor, vllm := b.Clients[0], b.Clients[1]
	want := map[string]any{
		"requests_per_s": 1000.0, "output_tokens_per_s": 128000.0, "tokens_per_message": 64.0,
		"cpu_us_per_request": 1.5 * 128, "cpu_us_per_token": 1.5,
		"ttft_ms": map[string]any{"p50": 2.0, "p99": 3.0}, "e2e_ms": map[string]any{"p50": 130.0, "p99": 140.0},
	}
	if diff := cmp.Diff(want, floor.Median); floor.Name != "floor" || floor.Scope != "client" || len(floor.Rounds) != 4 || diff != "" {
		t.Errorf("got %+v, (-want +got) %s", floor, diff)
	}
	wantFloor := &comparedRatios{Requests: spreadOf{(1000.0/300 + 4) / 2, 2, 4}, CPU: &spreadOf{(0.25 + 0.5) / 2, 0.125, 0.5}}
	if diff := cmp.Diff(wantFloor, floor.ToVLLM, near()); diff != "" {
		t.Error("floor to vLLM (-want +got)", diff)
	}
	wantVLLM := &comparedRatios{Requests: spreadOf{(0.25 + 0.3) / 2, 0.25, 0.5}, CPU: &spreadOf{3, 2, 8}}
	if diff := cmp.Diff(wantVLLM, vllm.ToFloor, near()); diff != "" {
		t.Error("vLLM to the floor (-want +got)", diff)
	}
	order, err := os.ReadFile(filepath.Join(f.directory, "order"))
	if got := strings.Join(strings.Fields(string(order)), " "); err != nil || got != "floor vllm vllm floor floor vllm vllm floor" {
		t.Errorf("the order was %s, %v", got, err)
	}
	f.check(t)
}

// near forgives the last digits.
func near() cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
}

func TestTheTableHasRatiosWithTheirSpread(t *testing.T) {
	f := newFakes(t)
	f.rounds(t, "floor", "floor", floorResult(1000, 1), floorResult(1000, 1))
	f.rounds(t, "venv/bin/python", "vllm", vllmResult(500, 20), vllmResult(250, 10))
	o := execute(t, plain(t), f.args("vllm,floor", "--rounds", "2")...)
	for _, want := range []string{
		"100 requests of 4096 prompt and 128 output tokens, 64 at a time; engines: 1, ipc, 1ms a step; rounds: 2\n",
		"floor", "vLLM's client", "to the floor's", "0.38x 0.25–0.50", "15.0x 10.0–20.0", "to vLLM's", "3.00x 2.00–4.00", "noise",
	} {
		if o.code != 0 || !strings.Contains(o.out, want) {
			t.Errorf("code %d, no %q in\n%s%s", o.code, want, o.out, o.err)
		}
	}
}

func TestMemoryAloneNeedsNoFiles(t *testing.T) {
	newFakes(t)
	c := execute(t, plain(t), "compare", "--client", "memory", "--workload", "short,long", "--step-time", "0s,100us", "--quick", "--rounds", "1", "--json", "-").comparedClients(t)
	if len(c.Blocks) != 8 { // of 1 and 4 engines
		t.Fatalf("got %+v", c.Blocks)
	}
	for _, b := range c.Blocks {
		if r := b.Clients[0]; r.Scope != "process" || r.ToFloor != nil || r.Median["requests_per_s"].(float64) <= 0 {
			t.Errorf("got %+v", r)
		}
	}
}

// An interrupt ends the client, what it has started and what it has made, though
// none of them ends by itself.
func TestAnInterruptLeavesNothingBehind(t *testing.T) {
	f := newFakes(t)
	alive := fifo(t, filepath.Join(f.directory, "alive"))
	f.script(t, "floor", `touch $TMPDIR/file /tmp/raw_bench.$$.in
trap 'exit 1' INT
sleep 60 > `+f.directory+`/alive &
echo $$ > `+f.directory+`/pid
wait`)
	c := start(t, plain(t), f.args("floor")...)
	reader := alive() // opens once the child of the child is there
	pid := poll(t, filepath.Join(f.directory, "pid"))
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if o := c.wait(); o.code != 130 || o.out != "" || o.err != "bench: interrupted\n" {
		t.Errorf("code %d, %q, %q", o.code, o.out, o.err)
	}
	if err := reader.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(make([]byte, 1)); !errors.Is(err, io.EOF) { // which comes when nobody has the other end
		t.Errorf("the child's child lives: %v", err)
	}
	if _, err := os.Stat("/tmp/raw_bench." + pid + ".in"); err == nil {
		t.Error("the socket is still there")
	}
	f.check(t)
}

// poll waits for a file with a line.
func poll(t *testing.T, path string) string {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if b, err := os.ReadFile(path); err == nil && strings.HasSuffix(string(b), "\n") {
			return strings.TrimSpace(string(b))
		}
	}
	return ""
}

func TestWhatWasMeasuredBeforeAnInterruptIsShown(t *testing.T) {
	f := newFakes(t)
	f.script(t, "floor", `cd `+f.directory+`
if [ -e once ]; then touch twice; exec sleep 1000; fi
touch once
echo '`+floorResult(1000, 1)+`'`)
	f.script(t, "venv/bin/python", `echo '`+vllmResult(500, 4)+`'`)
	c := start(t, plain(t), f.args("floor,vllm")...) // the floor comes second in the second round
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(filepath.Join(f.directory, "twice")); err == nil {
			break
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if o := c.wait(); o.code != 130 || !strings.Contains(o.out, "rounds: 1\n") {
		t.Errorf("code %d, %s%s", o.code, o.out, o.err)
	}
}
