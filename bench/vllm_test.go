// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/bench/load"
)

// COREPIPE_VLLM is a directory with a virtual environment that has vLLM. An
// engine of a tiny model with random weights runs on the processor and is ready
// in under a minute.
func TestARealEngineIsDrivenAndAttachedTo(t *testing.T) {
	e := newVLLM(t)
	e.start()
	r := e.bench("--handshake", e.endpoint, "--engines", "1").result(t)
	e.wantAll(r, 200, 3200)
	if r.Engines[0].Version == "" || !strings.HasPrefix(r.Engines[0].Version, e.release) {
		t.Errorf("version: got %q, want %q", r.Engines[0].Version, e.release)
	}
	e.attachedTo(r)
}

// COREPIPE_VLLM_OLD is a virtual environment with an older release, such as 0.20.2,
// whose ready message does not name it: what it may be is enough to drive it.
func TestAnOldRealEngineIsDrivenAndAttachedTo(t *testing.T) {
	e := newVLLMIn(t, "COREPIPE_VLLM_OLD")
	e.start()
	r := e.bench("--handshake", e.endpoint, "--engines", "1").result(t)
	e.wantAll(r, 200, 3200)
	e.attachedTo(r)
}

// attachedTo drives it again, and leaves requests in the middle; r is of the run before.
func (e *vllm) attachedTo(r *load.Result) {
	t := e.T
	t.Helper()
	t.Logf("%.0f requests/s, %.1f tokens a message, %.0f µs of CPU a request", r.RequestsPerSecond, r.TokensPerMessage, r.CPU)

	attach := []string{"--attach", "--release", e.release}
	r = e.bench(attach...).result(t)
	e.wantAll(r, 200, 3200)
	if r.Engines[0].Version != e.release {
		t.Errorf("version after attaching: got %q, want %q", r.Engines[0].Version, e.release)
	}

	r = e.bench(append(attach, "--requests", "60", "--output-tokens", "256", "--abort", "20")...).result(t)
	if r.Aborted != 20 || r.Done != 40 || r.Failed != 0 {
		t.Errorf("with aborts: got %+v", r)
	}
	r = e.bench(append(attach, "--requests", "1")...).result(t)
	if r.Done != 1 || r.Engines[0].Running > 1 || r.Engines[0].Waiting != 0 {
		t.Errorf("after the aborts: got %+v, want nothing left running", r)
	}
	// One that is left in the middle sees itself in the report, which proves that
	// the engine sends reports, and nothing of those before.
	r = e.bench(append(attach, "--requests", "1", "--output-tokens", "256", "--abort", "1")...).result(t)
	if r.Aborted != 1 || r.Engines[0].Running != 1 || r.Engines[0].Waiting != 0 {
		t.Errorf("in the middle of a request: got %+v, want one running", r)
	}
}

func TestARealEngineMayComeAfterTheClient(t *testing.T) {
	e := newVLLM(t)
	c := start(t, withZMQ(t), e.arguments("--handshake", e.endpoint)...)
	e.start()
	e.wantAll(c.wait().result(t), 200, 3200)
}

// vllm is one real engine.
type vllm struct {
	*testing.T
	directory, release string
	endpoint, port     string
	input, output      string
}

func newVLLM(t *testing.T) *vllm { return newVLLMIn(t, "COREPIPE_VLLM") }

func newVLLMIn(t *testing.T, variable string) *vllm {
	e := &vllm{T: t, directory: given(t, variable)}
	e.endpoint, e.port = freeTCP(t)
	sockets := t.TempDir()
	e.input, e.output = "ipc://"+sockets+"/in", "ipc://"+sockets+"/out"
	installed, err := filepath.Glob(filepath.Join(e.directory, "lib/python*/site-packages/vllm-*.dist-info"))
	if err != nil || len(installed) != 1 {
		t.Fatalf("no vLLM in %s: %v %v", e.directory, installed, err)
	}
	name := strings.TrimSuffix(filepath.Base(installed[0]), ".dist-info")
	e.release, _, _ = strings.Cut(strings.TrimPrefix(name, "vllm-"), "+")
	return e
}

// start starts the engine, which dials the handshake until somebody is there.
func (e *vllm) start(options ...string) { e.serve("testdata/tiny", options...) }

func (e *vllm) serve(model string, options ...string) {
	cmd := exec.Command(filepath.Join(e.directory, "bin", "vllm"), append([]string{
		"serve", model, "--headless",
		"--data-parallel-address", "127.0.0.1", "--data-parallel-rpc-port", e.port,
		"--load-format", "dummy", "--skip-tokenizer-init", "--dtype", "float32", "--enforce-eager",
		"--max-model-len", "1024", "--max-num-seqs", "64",
	}, options...)...)
	cmd.Env = append(os.Environ(), "VLLM_CPU_KVCACHE_SPACE=1")
	background(e.T, cmd)
}

// bench drives the engine with requests that fit the tiny model.
func (e *vllm) bench(args ...string) outcome {
	e.Helper()
	return execute(e.T, withZMQ(e.T), e.arguments(args...)...)
}

// arguments may have a flag twice; the last one counts.
func (e *vllm) arguments(args ...string) []string {
	return append([]string{
		"--input", e.input, "--output", e.output, "--requests", "200", "--concurrency", "32",
		"--prompt-tokens", "16", "--output-tokens", "16", "--vocab", "512", "--json", "-",
	}, args...)
}

func (e *vllm) wantAll(r *load.Result, done int, tokens int64) {
	e.Helper()
	if r.Done != done || r.Failed != 0 || r.Aborted != 0 || r.OutputTokens != tokens || r.CPUScope != "client" {
		e.Errorf("got %+v, want %d done and %d tokens", r, done, tokens)
	}
}
