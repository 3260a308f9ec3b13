// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/corepipe/corepipe/bench/wire"
)

// wireEncodeCmd makes frames.
type wireEncodeCmd struct {
	wireOptions
	File string `arg:"" optional:"" help:"JSON as wire decode prints it; standard input without it."`
	Fill bool   `help:"Write structs in full length, with defaults behind the last field that is named, as vLLM does. Default: they end at that field."`
	Out  string `placeholder:"DIR" help:"Write each frame to a file of its own, DIR/00.bin and so on, instead of hexadecimal to standard output."`
}

// Help is what --help says below the flags' summary.
func (c *wireEncodeCmd) Help() string {
	return `The JSON is an object with "kind", "release" (for request and outputs), "message", and perhaps "identity" and "type", frames in hexadecimal that go before the payload. Fields that are not named between others have their defaults. --kind and --release override what the JSON says, so a message of one release can be written for another.

  echo '{"kind": "abort", "type": "01", "message": ["r-1"]}' | go run ./bench wire encode
  go run ./bench wire decode --release 0.28.0 old.bin | go run ./bench wire encode --release 0.32.0

What JSON lacks is written as {"bin": "00ff"}, {"ext": 1, "hex": "80"}, {"float": "nan"}, {"map": [[1, 0.5]]} for keys that are no strings, {"dtype": "float32", "shape": [2], "values": [1.0, 2.0]}. A number with a point is a float, any other an integer.

A message that no engine would survive is made all the same, but said to be one on standard error.`
}

// Run encodes.
func (c *wireEncodeCmd) Run(t terminal) error {
	text, where, err := readInput(t, c.File, "JSON")
	if err != nil {
		return err
	}
	o := c.options()
	o.Fill = c.Fill
	messages, err := wire.Parse(text, o)
	if err != nil {
		return c.usage(where, err)
	}
	if c.Out != "" && len(messages) != 1 {
		return &usageError{"--out", fmt.Errorf("is for one message, there are %d", len(messages))}
	}
	for i, m := range messages {
		remarks(t, m)
		if c.Out != "" {
			return c.write(m.Frames())
		}
		var b []byte
		if i > 0 {
			b = append(b, '\n')
		}
		if _, err := t.out.Write(wire.AppendHex(b, m.Frames())); err != nil {
			return err
		}
	}
	return nil
}

// write makes the files. Frames of another message must not be left among them.
func (c *wireEncodeCmd) write(frames [][]byte) error {
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return &usageError{"--out", err}
	}
	if left, err := filepath.Glob(filepath.Join(c.Out, "*.bin")); err != nil || len(left) > 0 {
		return &usageError{"--out", errors.New(c.Out + " has .bin files already; take an empty directory")}
	}
	for i, frame := range frames {
		if err := os.WriteFile(filepath.Join(c.Out, fmt.Sprintf("%02d.bin", i)), frame, 0o644); err != nil {
			return err
		}
	}
	return nil
}
