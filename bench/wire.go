// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/corepipe/corepipe/bench/wire"
	"github.com/corepipe/corepipe/codec"
)

// wireCmd groups the commands for people who look at captured traffic.
type wireCmd struct {
	Decode  wireDecodeCmd  `cmd:"" help:"Print messages as JSON with field names, and say what a peer would object to."`
	Encode  wireEncodeCmd  `cmd:"" help:"Make the frames of messages given as JSON."`
	Layouts wireLayoutsCmd `cmd:"" help:"Print which field stands where in which vLLM release."`
}

// wireOptions are what a capture may not say.
type wireOptions struct {
	Kind    string `placeholder:"KIND" help:"request, abort, wave, utility, outputs, ready, handshake, init, counts, coordinator or value. Default: what the type frame or the payload says."`
	Release string `placeholder:"R" help:"vLLM release whose field names to use, such as 0.28.0. Default: 0.32.0, or by the length of the message if that has another."`
}

func (o wireOptions) options() wire.Options {
	return wire.Options{Kind: wire.Kind(o.Kind), Release: o.Release}
}

// usage makes a usage error of what was wrong with flags or input.
func (o wireOptions) usage(where string, err error) error {
	_, release := errors.AsType[*codec.ReleaseError](err)
	_, syntax := errors.AsType[*wire.SyntaxError](err)
	switch {
	case release:
		return &usageError{"--release", err}
	case errors.Is(err, wire.ErrUnknownKind):
		return &usageError{"--kind", err}
	case syntax || errors.Is(err, wire.ErrNoFrames):
		return &usageError{where, err}
	}
	return err
}

const standardInput = "standard input"

// readInput reads a file, or standard input for "" and "-".
func readInput(t terminal, path, expected string) (text []byte, where string, err error) {
	if path != "" && path != "-" {
		text, err = os.ReadFile(path)
		if err != nil {
			return nil, path, &usageError{err: err}
		}
		return text, path, nil
	}
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(t.err, "bench: reading %s from standard input; Ctrl-D ends it\n", expected)
	}
	text, err = io.ReadAll(os.Stdin)
	return text, standardInput, err
}

// remarks writes what there is to say about a message, and counts the faults.
func remarks(t terminal, m *wire.Message) int {
	for _, note := range m.Notes() {
		fmt.Fprintf(t.err, "bench: note: %s\n", note)
	}
	all := m.Check()
	for _, f := range all {
		fmt.Fprintf(t.err, "bench: %v\n", f)
	}
	return len(all)
}
