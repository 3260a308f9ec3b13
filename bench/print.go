// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/corepipe/corepipe/bench/load"
)

// print writes what was measured: a table, JSON, or both. Nothing measured,
// nothing written.
func (c *runCmd) print(t terminal, plans []*plan, results []*load.Result) error {
	if len(results) == 0 {
		return nil
	}
	if c.JSON != "-" {
		if _, err := fmt.Fprint(t.out, newTable(plans[0], results), "\n", c.next(), "\n"); err != nil {
			return err
		}
	}
	var v any = results
	if len(plans) == 1 {
		v = results[0]
	}
	return writeJSON(c.JSON, t.out, v)
}

// writeJSON writes v to a file, to out for -, and to nowhere for "".
func writeJSON(path string, out io.Writer, v any) error {
	if path == "" {
		return nil
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if path == "-" {
		_, err = out.Write(b)
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

// next is one line on what to try after this.
func (c *runCmd) next() string {
	const command = "next: go run -tags zmq ./bench "
	switch {
	case c.Attach || c.Handshake != "":
		return command + "--json FILE …  keeps the numbers for a comparison"
	case len(c.Transport) < 2 && withZMQ:
		return command + "--transport inproc,ipc,tcp  compares the transports"
	case len(c.Transport) < 2:
		return command + "--transport inproc,ipc,tcp  compares the transports (needs libzmq3-dev and pkg-config)"
	case c.StepTime == 0:
		return command + "--transport inproc,ipc,tcp --step-time 10ms  gives the engines the pace of a model"
	}
	return command + "--handshake tcp://127.0.0.1:29550  drives vLLM: " +
		"vllm serve MODEL --headless --data-parallel-address 127.0.0.1 --data-parallel-rpc-port 29550"
}
