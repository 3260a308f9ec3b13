// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/corepipe/corepipe/bench/wire"
)

// wireDecodeCmd prints messages.
type wireDecodeCmd struct {
	wireOptions
	Files []string `arg:"" optional:"" name:"file" help:"The frames of one message, a file each: identity and type if captured, the payload, tensor frames."`
	Hex   bool     `help:"The files are text: frames in hexadecimal, one a line."`
	Brief bool     `help:"Leave out fields that have their defaults, long lists and large tensors. The result cannot be encoded."`
}

// Help is what --help says below the flags' summary.
func (c *wireDecodeCmd) Help() string {
	return `Without files, frames are read from standard input in hexadecimal, one a line, with an empty line between messages. Blanks, colons, 0x and \x are read over; lines as xxd, hexdump -C or Python's repr print them are understood.

  echo 94cd01f407a5736c65657091c0 | go run ./bench wire decode
  go run ./bench wire decode --release 0.28.0 payload.bin tensor1.bin
  xxd payload.bin | go run ./bench wire decode --kind outputs --brief

What cannot be read, or what an engine would not survive, is said on standard error with its byte and its field, and the exit code is 1. A payload that was cut is shown as far as it goes.

Numbers to know: finish_reason 0 stop, 1 length, 2 abort, 3 error, 4 repetition; event type 1 queued, 2 scheduled, 3 preempted; output_kind 0 cumulative, 1 delta, 2 final only; call_id -1 elastic EP, -2 fault tolerance.`
}

// Run decodes and checks.
func (c *wireDecodeCmd) Run(t terminal) error {
	messages, where, err := c.input(t)
	if err != nil {
		return err
	}
	if len(messages) == 0 {
		return &usageError{where, wire.ErrNoFrames}
	}
	bad, hint := 0, ""
	for _, frames := range messages {
		m, err := wire.Decode(frames, c.options())
		if m == nil {
			return c.usage(where, err)
		}
		if _, err := t.out.Write(m.Append(nil, c.Brief)); err != nil {
			return err
		}
		if remarks(t, m) > 0 {
			bad++
			if m.Kind == wire.Request {
				hint = "; an engine answers such a request with an error, or reads nothing more"
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("faults in %d of %d messages%s", bad, len(messages), hint)
	}
	return nil
}

// input gives messages as frames, and what to call the place they came from.
func (c *wireDecodeCmd) input(t terminal) (messages [][][]byte, where string, err error) {
	if len(c.Files) > 0 && !c.Hex {
		frames, err := c.frames()
		return [][][]byte{frames}, "frames", err
	}
	paths := c.Files
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		text, name, err := readInput(t, path, "frames in hexadecimal, one a line,")
		if err != nil {
			return nil, name, err
		}
		more, err := wire.ReadHex(bytes.NewReader(text))
		if err != nil {
			return nil, name, c.usage(name, err)
		}
		messages, where = append(messages, more...), name
	}
	return messages, where, nil
}

// frames reads the files of one message.
func (c *wireDecodeCmd) frames() (frames [][]byte, err error) {
	for _, path := range c.Files {
		if path == "-" {
			return nil, &usageError{"file", errors.New("- is for --hex; without it standard input is read when no file is named")}
		}
		b, _, err := readInput(terminal{}, path, "")
		if err != nil {
			return nil, err
		}
		frames = append(frames, b)
	}
	return frames, nil
}
