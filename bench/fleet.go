// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/corepipe/corepipe/bench/sim"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport"
)

// fleet is the engines that a run starts for itself: goroutines with inproc, a
// process with ipc and tcp.
type fleet struct {
	*plan
	network   transport.Transport
	directory string // of the handshake's socket; empty when there is none

	mu      sync.Mutex
	stopped bool
	ended   func() error // ends what was started; nil when nothing was
}

// maxParent leaves room for the rest of the path in transport.MaxPath bytes.
const maxParent = 60

// engineError is the end of engines that were to be driven.
type engineError struct{ err error }

func (e *engineError) Error() string { return fmt.Sprintf("simulated engines: %v", e.err) }
func (e *engineError) Unwrap() error { return e.err }

// endpoint is where the engines are to shake hands.
func (f *fleet) endpoint() (string, error) {
	switch f.transport {
	case "inproc":
		return "inproc://handshake", nil
	case "tcp":
		return "tcp://127.0.0.1:0", nil
	}
	parent := os.TempDir()
	if len(parent) > maxParent {
		parent = "/tmp"
	}
	directory, err := os.MkdirTemp(parent, "corepipe-bench-")
	if err != nil {
		return "", err
	}
	f.directory = directory
	return "ipc://" + filepath.Join(directory, "handshake"), nil
}

// start starts the engines. If they end before they are stopped, failed hears of it.
func (f *fleet) start(endpoint string, failed context.CancelCauseFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	end, err := f.launch(endpoint, func(err error) { failed(&engineError{err}) })
	if err != nil {
		failed(&engineError{err})
		return
	}
	f.ended = end
}

func (f *fleet) launch(endpoint string, failed func(error)) (end func() error, err error) {
	if f.transport != "inproc" {
		return startProcess(f.arguments(endpoint), failed)
	}
	engines, err := sim.Start(context.Background(), sim.Config{
		Transport: f.network, Handshake: endpoint, Engines: f.engines, Release: f.Release,
		Core: func(int) engine.Core {
			return &engine.Sim{Vocab: f.Vocab, StepTime: f.StepTime, MaxBatch: f.MaxBatch, MaxModelLen: f.maxModelLen()}
		},
	})
	if err != nil {
		return nil, err
	}
	go func() { // ends with the engines, which stop ends
		if err := engines.Wait(); err != nil {
			failed(err)
		}
	}()
	return engines.Stop, nil
}

// maxModelLen is vLLM's usual 131,072, or more where requests are longer.
func (f *fleet) maxModelLen() int {
	return max(engine.DefaultMaxModelLen, f.PromptTokens+f.OutputTokens)
}

// stop ends the engines and removes what was made for them.
func (f *fleet) stop() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	var err error
	if f.ended != nil {
		err = f.ended()
	}
	if f.directory != "" {
		err = errors.Join(err, os.RemoveAll(f.directory))
	}
	return err
}
