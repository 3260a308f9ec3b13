// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/bench/load"
)

func TestTwoThousandRequestsInMemory(t *testing.T) {
	o := execute(t, plain(t), "--requests", "2000", "--verify", "--json", "-")
	r := o.result(t)
	if r.Done != 2000 || r.Failed != 0 || r.Aborted != 0 || r.OutputTokens != 64000 || len(r.Errors) != 0 {
		t.Errorf("got %+v", r)
	}
	if r.Transport != "inproc" || r.Policy != "least-loaded" || r.CPUScope != "process" || len(r.Engines) != 4 {
		t.Errorf("got %+v", r)
	}
	if r.Messages == 0 || r.CPU <= 0 || r.RequestsPerSecond <= 0 || r.TTFT.P50 <= 0 || r.E2E.P99 < r.E2E.P50 {
		t.Errorf("nothing measured: %+v", r)
	}
	if o.err != "" {
		t.Errorf("standard error: %q", o.err)
	}
}

func TestWithNoArgumentsATableIsPrinted(t *testing.T) {
	o := execute(t, plain(t))
	for _, want := range []string{"10000 requests of 128 prompt and 32 output tokens", "inproc", "requests/s", "p99", "done", "next: "} {
		if o.code != 0 || o.err != "" || !strings.Contains(o.out, want) {
			t.Fatalf("code %d, error %q, no %q in:\n%s", o.code, o.err, want, o.out)
		}
	}
	for _, not := range []string{"failed", "aborted", "interrupted"} {
		if strings.Contains(o.out, not) {
			t.Errorf("%q in:\n%s", not, o.out)
		}
	}
}

func TestAListOfPoliciesIsComparedInOneTableAndOneArray(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	o := execute(t, plain(t), "run", "--policy", "least-loaded,round-robin", "--requests", "500", "--engines", "2", "--json", file)
	for _, want := range []string{"inproc least-loaded", "inproc round-robin", "x\n"} {
		if o.code != 0 || !strings.Contains(o.out, want) {
			t.Errorf("code %d, no %q in:\n%s%s", o.code, want, o.out, o.err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []*load.Result
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 2 {
		t.Fatalf("%v in %s", err, b)
	}
	if r := list[1]; r.Policy != "round-robin" || r.Done != 500 || r.Engines[0].Requests != 250 {
		t.Errorf("got %+v", r)
	}
}

func TestAbortedRequestsAreCounted(t *testing.T) {
	r := execute(t, plain(t), "--requests", "300", "--output-tokens", "50", "--step-time", "1ms", "--abort", "20", "--json", "-").result(t)
	if r.Aborted != 20 || r.Done != 280 || r.Failed != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestAnInterruptPrintsWhatWasMeasured(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	c := start(t, plain(t), "--requests", "100000000", "--warmup", "0", "--step-time", "1ms", "--cpu-profile", profile, "--json", "-")
	// The profile is there once interrupts are heard.
	until(t, "a profile", func() bool { _, err := os.Stat(profile); return err == nil })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	o := c.wait()
	if o.code != 130 || o.out != "" && !o.decode(t).Interrupted {
		t.Errorf("code %d, %s%s", o.code, o.out, o.err)
	}
}
