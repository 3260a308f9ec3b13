// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"runtime/pprof"
)

// startProfile writes a CPU profile to path until stop is called. An empty path
// writes none.
func startProfile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, &usageError{"--cpu-profile", err}
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
