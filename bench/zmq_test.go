// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo && linux

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/corepipe/corepipe/bench/load"
)

func TestEnginesInAProcessOfTheirOwn(t *testing.T) {
	for _, transport := range []string{"ipc", "tcp"} {
		for _, engines := range []string{"1", "4"} {
			t.Run(fmt.Sprintf("transport=%s/engines=%s", transport, engines), func(t *testing.T) {
				directory := emptyTemp(t)
				r := execute(t, withZMQ(t), "--transport", transport, "--engines", engines, "--requests", "2000", "--verify", "--json", "-").result(t)
				if r.Done != 2000 || r.Failed != 0 || r.OutputTokens != 64000 || strconv.Itoa(len(r.Engines)) != engines {
					t.Errorf("got %+v", r)
				}
				if r.Transport != transport || r.CPUScope != "client" || r.Engines[0].Version == "" {
					t.Errorf("got %+v", r)
				}
				if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
					t.Errorf("left in the temporary directory: %v, %v", left, err)
				}
			})
		}
	}
}

func TestX6PercentilesOverIPCAndTCPAreJSON(t *testing.T) {
	for _, transport := range []string{"ipc", "tcp"} {
		emptyTemp(t)
		percentiles(t, withZMQ(t), transport)
	}
}

func TestAListOfTransportsIsComparedInOneTable(t *testing.T) {
	emptyTemp(t)
	file := filepath.Join(t.TempDir(), "results.json")
	o := execute(t, withZMQ(t), "--transport", "inproc,ipc,tcp", "--requests", "1000", "--json", file)
	if o.code != 0 || strings.Count(o.out, "x\n") < 9 {
		t.Fatalf("code %d, no ratios in:\n%s%s", o.code, o.out, o.err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []*load.Result
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 3 {
		t.Fatalf("%v in %s", err, b)
	}
	for i, transport := range []string{"inproc", "ipc", "tcp"} {
		if list[i].Transport != transport || list[i].Done != 1000 {
			t.Errorf("got %+v", list[i])
		}
	}
}

func TestFixedAddressesAndEnginesOfAnotherCommand(t *testing.T) {
	directory := emptyTemp(t)
	handshake := "ipc://" + directory + "/h"
	engines := start(t, withZMQ(t), "engines", "--handshake", handshake, "--count", "2")
	r := execute(t, withZMQ(t), "--handshake", handshake, "--engines", "2", "--input", "ipc://"+directory+"/i",
		"--output", "ipc://"+directory+"/o", "--requests", "500", "--verify", "--json", "-").result(t)
	if r.Done != 500 || len(r.Engines) != 2 {
		t.Errorf("got %+v", r)
	}
	r = execute(t, withZMQ(t), "--attach", "--engines", "2", "--input", "ipc://"+directory+"/i",
		"--output", "ipc://"+directory+"/o", "--requests", "500", "--verify", "--release", "0.32.1", "--json", "-").result(t)
	if r.Done != 500 || r.Engines[1].Version != "0.32.1" {
		t.Errorf("after attaching: got %+v", r)
	}
	if err := engines.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if o := engines.wait(); o.code != 0 {
		t.Errorf("engines: code %d, %s", o.code, o.err)
	}
}

func TestEnginesThatDoNotComeAreMissed(t *testing.T) {
	o := execute(t, withZMQ(t), "--handshake", "ipc://"+emptyTemp(t)+"/h", "--engines", "2", "--connect-timeout", "50ms", "--json", "-")
	if o.code != 1 || o.out != "" || !strings.Contains(o.err, "[0 1]") {
		t.Errorf("code %d, output %q, error %q", o.code, o.out, o.err)
	}
}

func TestTheEnginesEndWithTheirParent(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"interrupt": syscall.SIGINT, "terminate": syscall.SIGTERM, "kill": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			emptyTemp(t)
			parent := start(t, withZMQ(t), "--transport", "ipc", "--requests", "100000000", "--warmup", "0", "--step-time", "1ms")
			var child int
			until(t, "a child", func() bool { child = childOf(parent.Process.Pid); return child > 0 })
			if err := parent.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if o := parent.wait(); signal != syscall.SIGKILL && o.code != 130 {
				t.Errorf("code %d, error %q", o.code, o.err)
			}
			until(t, "the end of the child", func() bool { _, state := process(child); return state == "" || state == "Z" })
		})
	}
}

// emptyTemp gives the commands a temporary directory whose name is short enough
// for sockets.
func emptyTemp(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "b") //nolint:usetesting // a subtest's name is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	t.Setenv("TMPDIR", directory)
	return directory
}

// childOf is the child of a process that has begun to run the same command; 0
// when there is none.
func childOf(parent int) int {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, _ := process(pid); p != parent {
			continue
		}
		if line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline"); strings.Contains(string(line), "engines\x00") {
			return pid
		}
	}
	return 0
}

// process reads the parent and the state of one; empty when it is gone.
func process(pid int) (parent int, state string) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, ""
	}
	// pid (name) state parent; the name may hold anything.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	parent, _ = strconv.Atoi(fields[1])
	return parent, fields[0]
}
