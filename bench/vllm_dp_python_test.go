// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// python is a script in COREPIPE_VLLM's environment that hears a JSON value a line
// and may answer each with another.
type python struct {
	in  *json.Encoder
	out *json.Decoder
}

func newPython(t *testing.T, script string, args ...string) *python {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(given(t, "COREPIPE_VLLM"), "bin", "python"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"-B", script}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // killed
		_ = said.Close()
		if b, _ := os.ReadFile(said.Name()); t.Failed() {
			t.Logf("%s said:\n%s", script, b[max(0, len(b)-8000):])
		}
	})
	return &python{json.NewEncoder(in), json.NewDecoder(out)}
}

// tell says v.
func (p *python) tell(t *testing.T, v any) {
	t.Helper()
	if err := p.in.Encode(v); err != nil {
		t.Fatal(err)
	}
}

// ask says v and waits for the answer.
func (p *python) ask(t *testing.T, v, answer any) {
	t.Helper()
	p.tell(t, v)
	if err := p.out.Decode(answer); err != nil {
		t.Fatalf("no answer: %v", err)
	}
}
