// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// check refuses flags that make no sense, alone or together, and fills in defaults.
func (c *scaleCmd) check() error {
	if c.Rounds < 1 || c.Rounds > 1000 {
		return &usageError{"--rounds", fmt.Errorf("must be 1 to 1000, is %d", c.Rounds)}
	}
	if c.StepTime < 0 || c.StepTime > time.Second {
		return &usageError{"--step-time", fmt.Errorf("must be 0s to 1s, is %v", c.StepTime)}
	}
	for _, name := range c.Curve {
		if !slices.Contains(curveNames(), name) {
			return &usageError{"--curve", fmt.Errorf("%q is none of %s", name, strings.Join(curveNames(), ", "))}
		}
	}
	if c.From != "" && (len(c.Curve) > 0 || c.Transport != "" || c.Quick) {
		return &usageError{"--from", errors.New("takes what was measured: --curve, --transport and --quick are for measuring")}
	}
	if err := c.checkTransport(); err != nil {
		return err
	}
	return checkFile(c.JSON)
}

func (c *scaleCmd) checkTransport() error {
	switch c.Transport {
	case "":
		if c.Transport = "inproc"; withZMQ {
			c.Transport = "ipc"
		}
	case "inproc":
	case "ipc", "tcp":
		if !withZMQ {
			_, _, err := newZMQ()
			return err
		}
	default:
		return &usageError{"--transport", fmt.Errorf("%q is not inproc, ipc or tcp", c.Transport)}
	}
	return nil
}

// kept prints what --from names.
func (c *scaleCmd) kept(_ context.Context, t terminal) (*scaleReport, error) {
	b, err := os.ReadFile(c.From)
	if err != nil {
		return nil, &usageError{"--from", err}
	}
	r, err := decodeOnly[scaleReport](b)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, &usageError{"--from", fmt.Errorf("%s: %w", c.From, err)}
	}
	for _, v := range r.Curves {
		v.sum()
		c.show(t, v)
	}
	return &r, nil
}

// check refuses what measuring would not have given.
func (r *scaleReport) check() error {
	for _, v := range r.Curves {
		if v == nil || len(v.Points) == 0 || slices.Contains(v.Points, nil) || v.full() == 0 {
			return errors.New("has a curve with no rounds")
		}
		for _, p := range v.Points {
			for _, f := range p.Rounds {
				if p.At <= 0 || !(f.Cost > 0) { // so that NaN is refused
					return fmt.Errorf("%s: at %d: the cost must be more than 0, is %v", v.Name, p.At, f.Cost)
				}
			}
		}
	}
	return nil
}
