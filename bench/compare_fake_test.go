// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakes stand in for the clients that bench compare is given: shell scripts that say
// what a test wants them to say.
type fakes struct {
	directory string
	temp      string // TMPDIR of the command, which is to leave nothing there
}

func newFakes(t *testing.T) *fakes {
	t.Helper()
	f := &fakes{t.TempDir(), shortTemp(t)}
	for _, variable := range []string{"COREPIPE_MOCK", "COREPIPE_FLOOR", "COREPIPE_VLLM", "COREPIPE_VLLM_BENCH"} {
		t.Setenv(variable, "")
	}
	f.script(t, "mock", "exit 0")
	return f
}

// shortTemp makes TMPDIR an empty directory whose path leaves room for sockets.
func shortTemp(t *testing.T) string {
	t.Helper()
	temp, err := os.MkdirTemp("/tmp", "b") //nolint:usetesting // a test's name is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	return temp
}

// script makes a program.
func (f *fakes) script(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(f.directory, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// rounds makes a program that says one of the results in turn, and appends its name
// to a list.
func (f *fakes) rounds(t *testing.T, name, label string, results ...string) {
	t.Helper()
	text := fmt.Sprintf("cd %s\necho %s >> order\nn=$(grep -c %s order)\n", f.directory, label, label)
	for i, r := range results {
		text += fmt.Sprintf("if [ $n = %d ]; then echo '%s'; fi\n", i+1, r)
	}
	f.script(t, name, text)
}

// args are flags for one setting: the long workload, quickly, on one engine.
func (f *fakes) args(client string, more ...string) []string {
	return append([]string{
		"compare", "--mock", f.directory + "/mock", "--floor", f.directory + "/floor", "--vllm", f.directory + "/venv",
		"--vllm-bench", f.directory + "/mock", "--client", client, "--workload", "long", "--quick", "--engines", "1",
	}, more...)
}

// check finds what was left behind.
func (f *fakes) check(t *testing.T) { t.Helper(); empty(t, f.temp) }

func empty(t *testing.T, directory string) {
	t.Helper()
	if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// common is a result of raw_bench and of bench.py: so many requests a second, and
// CPU µs a token.
func common(requests, cpu float64) map[string]any {
	return map[string]any{
		"peer": "fake", "engines": 1, "transport": "ipc", "step_us": 1000, "N": 100, "C": 64, "P": 4096, "T": 128,
		"wall_s": 1, "req_s": requests, "tok_s": requests * 128, "cpu_s": 1, "user_s": 1, "sys_s": 0,
		"us_cpu_per_req": 0.1, "us_cpu_per_tok": cpu, "messages": 200, "tok_per_msg": 64,
		"ttft_p50_ms": 2, "ttft_p99_ms": 3, "e2e_p50_ms": 130, "e2e_p99_ms": 140, "load": 1,
	}
}

func floorResult(requests, cpu float64) string {
	r := common(requests, cpu)
	r["engine_cpu_s"] = 1
	return text(r)
}

func vllmResult(requests, cpu float64) string {
	r := common(requests, cpu)
	r["managed"], r["verified"], r["loop"], r["mock_cpu_s"], r["coordinator_cpu_s"] = false, false, "uvloop", 1, nil
	return text(r)
}

// text is a result without a quote that a shell would mind.
func text(r map[string]any) string {
	b, err := json.Marshal(r)
	if err != nil || strings.Contains(string(b), "'") {
		panic(fmt.Sprint(err, string(b)))
	}
	return string(b)
}
