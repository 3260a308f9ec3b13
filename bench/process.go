// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// arguments start this command as engines.
func (f *fleet) arguments(endpoint string) []string {
	args := []string{
		"engines", "--handshake", endpoint, "--count", strconv.Itoa(f.engines),
		"--vocab", strconv.Itoa(f.Vocab), "--step-time", f.StepTime.String(), "--until-eof",
		"--max-batch", strconv.Itoa(f.MaxBatch), "--max-model-len", strconv.Itoa(f.maxModelLen()),
	}
	if f.Release != "" {
		args = append(args, "--release", f.Release)
	}
	return args
}

// startProcess runs this executable again. The child ends when its standard
// input does, so it ends with this process however that ends. failed hears of a
// child that ends by itself.
func startProcess(args []string, failed func(error)) (end func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	said := &tail{}
	cmd := exec.Command(self, args...)
	cmd.Stderr = said
	apart(cmd)
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	over := make(chan struct{})
	go func() { // ends with the child, which end ends
		defer close(over)
		if err = cmd.Wait(); err == nil {
			err = errors.New("ended")
		}
		failed(fmt.Errorf("process: %w\n%s", err, said))
	}()
	return func() error { return endProcess(cmd, life, over) }, nil
}

// endProcess asks, then kills.
func endProcess(cmd *exec.Cmd, life io.Closer, over <-chan struct{}) error {
	_ = life.Close() // it may have ended by itself
	patience := time.NewTimer(closeTimeout)
	defer patience.Stop()
	select {
	case <-over:
		return nil
	case <-patience.C:
	}
	err := cmd.Process.Kill()
	<-over
	return errors.Join(fmt.Errorf("engines process did not end in %v and was killed", closeTimeout), err)
}

// tail keeps the end of what a process says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if n := len(t.text) - maxTail; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
