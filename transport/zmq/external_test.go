// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAModuleOutsideBuildsWithoutATag: importing the package is the choice.
func TestAModuleOutsideBuildsWithoutATag(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Skipf("no go command: %v", err)
	}
	root := strings.TrimSpace(string(out))
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Their go.mod needs what ours does, at the same versions, so that nothing is
	// downloaded.
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	const path = "github.com/corepipe/corepipe"
	write("go.mod", strings.Replace(string(mod), "module "+path, "module example.com/gateway", 1)+
		"\nrequire "+path+" v0.0.0\n\nreplace "+path+" => "+root+"\n")
	write("go.sum", string(sum))
	write("main.go", `package main

import "github.com/corepipe/corepipe/transport/zmq"

func main() {
	t, err := zmq.New()
	if err != nil {
		panic(err)
	}
	if err := t.Close(); err != nil {
		panic(err)
	}
}
`)
	build := exec.Command("go", "build", "-o", "gateway", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if out, err := exec.Command(filepath.Join(dir, "gateway")).CombinedOutput(); err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
}
