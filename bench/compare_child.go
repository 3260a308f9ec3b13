// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// child is a program to be run to its end.
type child struct {
	path      string
	args      []string
	directory string // for what it puts into the file system
}

const (
	maxRun = 10 * time.Minute // then a child is stopped
)

// run gives what the program wrote on standard output. When ctx ends the program is
// interrupted, and killed if that does not end it; what it has started ends with it.
// An error has the end of what it wrote on standard error.
func (c child) run(ctx context.Context) ([]byte, error) {
	said, out := &tail{}, &capped{}
	err := c.wait(ctx, out, said)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case out.over:
		err = errors.New("more output than a result has")
	}
	if err == nil {
		return out.b.Bytes(), nil
	}
	if text := said.String(); text != "" {
		return out.b.Bytes(), fmt.Errorf("%s: %w; it said:\n%s", c.path, err, text)
	}
	return out.b.Bytes(), fmt.Errorf("%s: %w", c.path, err)
}

// wait runs the program. Its output goes through pipes of our own: exec's would wait
// for whoever holds their other end, and only then could those be ended.
func (c child) wait(ctx context.Context, stdout, stderr io.Writer) error {
	var drains [2]*drain
	for i, to := range []io.Writer{stdout, stderr} {
		d, err := newDrain(to)
		if err != nil {
			return err
		}
		defer d.end()
		drains[i] = d
	}
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Stdout, cmd.Stderr = drains[0].in, drains[1].in
	cmd.Env = append(os.Environ(), "TMPDIR="+c.directory, "VLLM_RPC_BASE_PATH="+c.directory, "VLLM_LOGGING_STREAM=ext://sys.stderr")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = closeTimeout
	apart(cmd)
	withParent(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	endGroup(cmd)
	// A raw_bench that does not end in order leaves its sockets, and has them here.
	left, _ := filepath.Glob(fmt.Sprintf("/tmp/raw_bench.%d.*", cmd.Process.Pid)) // the pattern is right
	for _, path := range left {
		_ = os.Remove(path) // gone is gone
	}
	return err
}
