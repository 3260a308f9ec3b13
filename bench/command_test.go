// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/corepipe/corepipe/bench/load"
)

// builds are the commands under test, each built once.
type builds struct {
	plain func() (string, error) // without cgo
	zmq   func() (string, error)
	plot  func() (string, error) // without cgo
}

var built builds

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	directory, err := os.MkdirTemp("", "bench-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(directory)
	built = builds{
		plain: sync.OnceValues(func() (string, error) { return build(directory, "plain", "CGO_ENABLED=0") }),
		zmq:   sync.OnceValues(func() (string, error) { return build(directory, "zmq", "CGO_ENABLED=1", "-tags", "zmq") }),
		plot:  sync.OnceValues(func() (string, error) { return build(directory, "plot", "CGO_ENABLED=0", "-tags", "plot") }),
	}
	return m.Run()
}

func build(directory, name, env string, args ...string) (string, error) {
	path := filepath.Join(directory, name)
	cmd := exec.Command("go", append(append([]string{"build"}, args...), "-o", path, ".")...)
	cmd.Env = append(os.Environ(), env)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.Join(err, errors.New(string(out)))
	}
	return path, nil
}

// plain is the command without ZeroMQ, withZMQ the one with it, withPlot the one that draws.
func plain(t *testing.T) string    { return must(t, built.plain) }
func withZMQ(t *testing.T) string  { return must(t, built.zmq) }
func withPlot(t *testing.T) string { return must(t, built.plot) }

func must(t *testing.T, f func() (string, error)) string {
	t.Helper()
	path, err := f()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// outcome is what a command did.
type outcome struct {
	out, err string
	code     int
}

// execute runs a command to its end.
func execute(t *testing.T, path string, args ...string) outcome {
	t.Helper()
	return start(t, path, args...).wait()
}

// running is a command that runs.
type running struct {
	*testing.T
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

func start(t *testing.T, path string, args ...string) *running {
	t.Helper()
	r := &running{T: t, Cmd: exec.CommandContext(t.Context(), path, args...)}
	r.Stdout, r.Stderr = &r.stdout, &r.stderr
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *running) wait() outcome {
	r.Helper()
	if err := r.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		r.Fatal(err)
	}
	return outcome{r.stdout.String(), r.stderr.String(), r.ProcessState.ExitCode()}
}

// result reads the JSON of one run that went well.
func (o outcome) result(t *testing.T) *load.Result {
	t.Helper()
	if o.code != 0 {
		t.Fatalf("exit code %d, standard error: %s%s", o.code, o.err, o.out)
	}
	return o.decode(t)
}

// decode reads the JSON of one run, and nothing else may be there.
func (o outcome) decode(t *testing.T) *load.Result {
	t.Helper()
	r := &load.Result{}
	d := json.NewDecoder(bytes.NewBufferString(o.out))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		t.Fatalf("%v in %q, standard error: %s", err, o.out, o.err)
	}
	if d.More() {
		t.Fatalf("more than JSON: %q", o.out)
	}
	return r
}

// until asks again and again. The test's own time limit bounds it.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("no " + what)
		}
	}
}
