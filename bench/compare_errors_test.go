// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// fifo makes a named pipe; the function it returns opens it to read once somebody
// has opened it to write.
func fifo(t *testing.T, path string) func() *os.File {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() *os.File {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
}

// with is a result of the floor with something else in it.
func with(key string, value any) string {
	r := common(1000, 1)
	r["engine_cpu_s"] = 1
	r[key] = value
	return "echo '" + text(r) + "'"
}

func TestAClientThatFailsOrSaysNonsenseIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"it fails":                   {"echo what went wrong >&2; exit 3", "floor: exit status 3; it said:\nwhat went wrong"},
		"it fails with a result":     {with("peer", "x") + "; exit 1", "floor: exit status 1"},
		"it is killed":               {"kill -9 $$", "floor: signal: killed"},
		"it says nothing":            {"exit 0", "no result: EOF"},
		"it says something else":     {"echo hello", `no result: invalid character 'h' looking for beginning of value in "hello`},
		"it says more":               {with("peer", "x") + "; echo 1", "no result: more than a result"},
		"it says far too much":       {"exec yes", "more output than a result has"},
		"it is another release":      {with("surprise", 1), `unknown field "surprise"`},
		"it sent another number":     {with("N", 99), `the result of "fake" is of something else: 99 requests of`},
		"it had another concurrency": {with("C", 63), "63 at a time"},
		"it had other prompts":       {with("P", 1), "of 1 prompt"},
		"it had other outputs":       {with("T", 1), "and 1 output"},
		"it had other engines":       {with("engines", 2), "engines: 2"},
		"it took another transport":  {with("transport", "tcp"), "tcp, 1ms a step"},
		"it had another pace":        {with("step_us", 0), "unpaced"},
		"no CPU time":                {with("us_cpu_per_tok", 0), "the result has no CPU time"},
		"no messages":                {with("tok_per_msg", 0), "the result has no tokens a message"},
		"no latency":                 {with("e2e_p99_ms", 0), "the result has no end to end"},
		"a number that is none":      {with("req_s", "many"), "no result: json: cannot unmarshal string"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakes(t)
			f.script(t, "floor", c.script)
			o := execute(t, plain(t), f.args("floor", "--json", "-")...)
			if o.code != 1 || o.out != "" || !strings.HasPrefix(o.err, "bench: compare: floor, 100 requests of 4096") || !strings.Contains(o.err, c.want) {
				t.Errorf("code %d, output %q, error %s", o.code, o.out, o.err)
			}
			f.check(t)
		})
	}
}

func TestEnginesThatEndEarlyAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"they fail": {"echo no engines today >&2; exit 3", "mock: exit status 3; it said:\nno engines today"},
		"they end":  {"echo bye", "mock: ended before the client did; it said: bye"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakes(t)
			f.script(t, "mock", c.script)
			o := execute(t, withZMQ(t), f.args("raw")...)
			if o.code != 1 || !strings.Contains(o.err, "bench: compare: raw, 100 requests") || !strings.Contains(o.err, c.want) {
				t.Errorf("code %d, error %s", o.code, o.err)
			}
			f.check(t)
		})
	}
}

func TestComparisonsThatMakeNoSenseAreRefused(t *testing.T) {
	f := newFakes(t)
	f.script(t, "floor", "exit 0")
	floor := " --mock " + f.directory + "/mock --floor " + f.directory + "/floor"
	for args, want := range map[string]string{
		"":                                     "--mock: is needed",
		"--client floor":                       "--mock: is needed",
		"--client floor --mock /nowhere":       "--mock: stat /nowhere",
		"--client floor --mock " + f.directory: "is a directory",
		"--client floor --mock " + f.directory + "/mock": "--floor: is needed",
		"--client vllm" + floor:                          "--vllm: is needed",
		"--client vllm --vllm /nowhere" + floor:          "--vllm: stat /nowhere/bin/python",
		"--client other":                                 `--client: "other" is not floor, streams`,
		"--workload other" + floor:                       `--workload: "other" is not`,
		"--client memory --transport inproc":             `--transport: "inproc" is not ipc or tcp`,
		"--client memory --engines 0":                    "--engines: must be 1 to 64",
		"--client memory --rounds 0":                     "--rounds: must be 1 to 1000",
		"--client memory --step-time 1500ns":             "--step-time: must be whole microseconds",
		"--client memory --step-time=-1ms":               "--step-time: must be whole",
		"--client memory --json /nowhere/at/all":         "--json: open",
		"--client memory --plot x.svg":                   `--plot: built without`,
	} {
		if o := execute(t, plain(t), append([]string{"compare"}, strings.Fields(args)...)...); o.code != 2 || o.out != "" || !strings.Contains(o.err, want) {
			t.Errorf("%s: code %d, output %q, error %q; want %q", args, o.code, o.out, o.err, want)
		}
	}
	o := execute(t, plain(t), append([]string{"compare", "--client", "streams"}, strings.Fields(floor)...)...)
	if o.code != 1 || !strings.Contains(o.err, "-tags zmq") {
		t.Errorf("streams without ZeroMQ: code %d, error %q", o.code, o.err)
	}
}
