// SPDX-License-Identifier: Apache-2.0

//go:build !plot

package main

import "errors"

// drawing tells how to get what is missing.
func (c *compareCmd) drawing() (func(r *report) error, error) {
	if c.Plot != "" {
		return nil, &usageError{"--plot", errors.New(`built without drawing; take: go run -tags zmq,plot ./bench compare …`)}
	}
	return func(*report) error { return nil }, nil
}
