// SPDX-License-Identifier: Apache-2.0

//go:build !plot

package main

import "errors"

// drawing tells how to get what is missing: the packages that draw take as long to
// build as all the rest.
func (c *policiesCmd) drawing() (func(a *comparison) error, error) {
	if c.Plot != "" {
		return nil, &usageError{"--plot", errors.New("built without drawing; take: go run -tags plot ./bench policies …")}
	}
	return func(*comparison) error { return nil }, nil
}
