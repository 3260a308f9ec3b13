// SPDX-License-Identifier: Apache-2.0

//go:build !plot

package main

import "errors"

// drawable is a result that could be drawn.
type drawable any

// newDrawing tells how to get what is missing, given the tags and the command: the
// packages that draw take as long to build as all the rest.
func newDrawing(path, command string) (func(r drawable) error, error) {
	if path != "" {
		return nil, &usageError{"--plot", errors.New("built without drawing; take: go run -tags " + command + " …")}
	}
	return func(drawable) error { return nil }, nil
}
