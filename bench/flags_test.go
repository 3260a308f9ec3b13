// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"
)

func TestWrongFlagsAreRefusedByName(t *testing.T) {
	for name, c := range map[string]struct{ args, want string }{
		"no such flag":                      {"--bogus", "--bogus"},
		"no such command":                   {"walk", "walk"},
		"a number that is none":             {"--requests x", "--requests"},
		"no requests":                       {"--requests 0", "--requests: must be 1 to"},
		"no engines":                        {"--engines 0", "--engines: must be 1 to"},
		"no concurrency":                    {"--concurrency 0", "--concurrency:"},
		"no prompt":                         {"--prompt-tokens 0", "--prompt-tokens:"},
		"no output":                         {"--output-tokens 0", "--output-tokens:"},
		"no vocabulary":                     {"--vocab 0", "--vocab:"},
		"less than no tensor":               {"--aux-bytes=-1", "--aux-bytes:"},
		"an empty batch":                    {"--max-batch 0", "--max-batch: must be 1 to"},
		"the batch of others' engines":      {"--max-batch 8 --handshake tcp://127.0.0.1:1", "--max-batch: is of engines"},
		"engines without a batch":           {"engines --handshake ipc:///tmp/x --max-batch 0", "--max-batch: must be 1 to"},
		"engines that take no token":        {"engines --handshake ipc:///tmp/x --max-model-len 0", "--max-model-len: must be 1 to"},
		"a negative warm-up":                {"--warmup=-1", "--warmup:"},
		"more aborts than requests":         {"--requests 5 --abort 6", "--abort: must be 0 to 5"},
		"aborts of one-token requests":      {"--output-tokens 1 --abort 1", "--abort: needs --output-tokens"},
		"a negative step":                   {"--step-time=-1s", "--step-time:"},
		"no time to connect":                {"--connect-timeout 0s", "--connect-timeout:"},
		"an unknown transport":              {"--transport inproc,udp", `--transport: "udp"`},
		"an unknown policy":                 {"--policy best", `--policy: "best"`},
		"a release that is none":            {"--release 0.1.0", "--release:"},
		"attach and handshake":              {"--attach --handshake tcp://127.0.0.1:1", "--attach: goes without --handshake"},
		"attach to nowhere":                 {"--attach", "--attach: needs --input"},
		"an input without an output":        {"--transport ipc --input ipc:///tmp/i", "--input: goes together"},
		"an output without an input":        {"--transport ipc --output ipc:///tmp/o", "--output: goes together"},
		"a handshake in memory":             {"--transport inproc --handshake tcp://127.0.0.1:1", "--handshake: is for engines in other"},
		"an input in memory":                {"--transport inproc --input ipc:///a --output ipc:///b", "--input: is for engines in other"},
		"an inproc address":                 {"--handshake inproc://x", "--handshake: inproc://x ends at"},
		"a port that is none":               {"--handshake tcp://127.0.0.1:99999", "--handshake: transport: endpoint"},
		"an address that engines can't use": {"--handshake tcp://*:4444", "--handshake: tcp://*:4444 does not say"},
		"two transports, one handshake":     {"--transport ipc,tcp --handshake tcp://127.0.0.1:1", "--transport: takes one"},
		"two policies, one handshake":       {"--policy round-robin,least-loaded --handshake tcp://127.0.0.1:1", "--policy: takes one"},
		"the pace of others' engines":       {"--step-time 1ms --handshake tcp://127.0.0.1:1", "--step-time: is of engines"},
		"a place that is none":              {"--json /nowhere/at/all.json", "--json: open"},
		"engines for nobody":                {"engines", "--handshake"},
		"engines at a bad address":          {"engines --handshake tcp://127.0.0.1", "--handshake: transport: endpoint"},
		"engines in memory":                 {"engines --handshake inproc://x", "--handshake: inproc://x ends at"},
		"a count of no engines":             {"engines --handshake ipc:///tmp/x --count 0", "--count: must be 1 to"},
		"ranks beyond the last":             {"engines --handshake ipc:///tmp/x --first-rank 65535 --count 2", "--count: must be 1 to 1,"},
	} {
		t.Run(name, func(t *testing.T) {
			o := execute(t, plain(t), strings.Fields(c.args)...)
			if o.code != 2 || o.out != "" || !strings.HasPrefix(o.err, "bench: ") || !strings.Contains(o.err, c.want) {
				t.Errorf("got code %d, output %q, error %q; want 2 and an error with %q", o.code, o.out, o.err, c.want)
			}
		})
	}
}

func TestIPCWithoutZMQSaysHowToGetIt(t *testing.T) {
	for _, args := range []string{"--transport ipc", "--transport tcp", "engines --handshake ipc:///tmp/x"} {
		o := execute(t, plain(t), strings.Fields(args)...)
		if o.code != 1 || !strings.Contains(o.err, "install libzmq3-dev and pkg-config, then: go run -tags zmq ./bench") {
			t.Errorf("%s: got code %d, error %q", args, o.code, o.err)
		}
	}
}

func TestHelpListsTheFlagsAndTheOtherCommands(t *testing.T) {
	o := execute(t, plain(t), "--help")
	for _, want := range []string{"--transport", "--policy", "--handshake", "--verify", "--json", "bench engines", "bench coordinator", "bench codec", "bench scale", "bench wire"} {
		if o.code != 0 || !strings.Contains(o.out, want) {
			t.Errorf("code %d, no %q in %s", o.code, want, o.out)
		}
	}
}
