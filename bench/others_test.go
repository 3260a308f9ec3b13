// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// given is the path in an environment variable, which may be relative to the
// module. Without it the test is skipped.
func given(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skip(variable + " is not set")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join("..", path)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return path
}

// freeTCP is an endpoint that was free a moment ago.
func freeTCP(t *testing.T) (endpoint, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "tcp://127.0.0.1:" + port, port
}

// background runs somebody else's program until the test ends, then ends it and
// its children. What it said is shown if the test failed.
func background(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // killed
		_ = said.Close()
		if t.Failed() {
			b, _ := os.ReadFile(said.Name())
			t.Logf("%s said:\n%s", cmd.Path, b[max(0, len(b)-8000):])
		}
	})
}
