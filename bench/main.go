// SPDX-License-Identifier: Apache-2.0

// Command bench measures how fast requests get to vLLM engines and their tokens
// back, without a model and without a GPU: it drives simulated engines, in
// memory or over ZeroMQ, or real ones that somebody else starts.
//
//	go run ./bench
//	go run ./bench --help
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/corepipe/corepipe/codec"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a request failed, or the run itself
	exitUsage       = 2
	exitInterrupted = 130
)

// cli is the command line.
type cli struct {
	Run     runCmd     `cmd:"" default:"withargs" help:"Drive engines and measure (the default)."`
	Engines enginesCmd `cmd:"" help:"Serve simulated engines until interrupted."`

	Coordinator coordinatorCmd `cmd:"" help:"Coordinate data-parallel engines until interrupted, as vLLM's DPCoordinatorProc."`
	Policies    policiesCmd    `cmd:"" help:"Compare routing policies on simulated engines, in virtual time."`
	Compare     compareCmd     `cmd:"" help:"Measure this client, the floor and vLLM's own client in turn, against the same engines."`
	Scale       scaleCmd       `cmd:"" help:"Draw how this client's cost follows engines, live streams, prompts and tensors."`
	Codec       codecCmd       `cmd:"" help:"Measure encoding and decoding alone, without an engine and without a transport."`
	Wire        wireCmd        `cmd:"" help:"Show captured messages as JSON, make messages, list the layouts of vLLM releases."`
}

// terminal is where a command writes.
type terminal struct{ out, err io.Writer }

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	os.Exit(command(os.Args[1:], terminal{os.Stdout, os.Stderr}))
}

// garbage is GOGC where nobody says another: a client holds little and throws much
// away, so that the usual 100 would collect every 4 MB.
const garbage = 400

// command runs the command line and returns the exit code.
func command(args []string, t terminal) int {
	var c cli
	parser, err := kong.New(&c, kong.Name("bench"), kong.Writers(t.out, t.err), kong.Vars{"release": codec.DefaultRelease},
		kong.Description("Measures the way from a client to vLLM engines and back."))
	if err != nil {
		return t.fail(err)
	}
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		args = []string{"run", "--help"} // the flags that matter; it names the other commands
	}
	k, err := parser.Parse(args)
	if err != nil {
		return t.fail(&usageError{err: err})
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	k.BindTo(ctx, (*context.Context)(nil))
	return t.fail(k.Run(t))
}

// fail says what went wrong, if anything, and returns the exit code.
func (t terminal) fail(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errInterrupted):
		fmt.Fprintf(t.err, "bench: %v\n", errInterrupted)
		return exitInterrupted
	case errors.As(err, &usage):
		fmt.Fprintf(t.err, "bench: %v\n(bench --help lists the flags)\n", err)
		return exitUsage
	}
	fmt.Fprintf(t.err, "bench: %v\n", err)
	return exitFailed
}

// errInterrupted ends a run that was interrupted; what there was has been printed.
var errInterrupted = errors.New("interrupted")

// usageError is a command line that makes no sense.
type usageError struct {
	flag string // with its dashes; empty when err says it
	err  error
}

func (e *usageError) Error() string {
	if e.flag == "" {
		return e.err.Error()
	}
	return e.flag + ": " + e.err.Error()
}

func (e *usageError) Unwrap() error { return e.err }
