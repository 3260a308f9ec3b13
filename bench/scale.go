// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// scaleCmd is the command that draws how this client's cost follows what it is given.
type scaleCmd struct {
	Curve     []string      `placeholder:"NAME" help:"engines, engines-total, streams, streams-waiting, prompt or aux. Default: all."`
	Transport string        `placeholder:"NAME" help:"ipc or tcp: the engines are a process of their own, and CPU is the client's. inproc: it is that of both. Default: ipc, or inproc where this is built without ZeroMQ."`
	StepTime  time.Duration `placeholder:"DURATION" default:"1ms" help:"What an engine's step takes (${default})."`
	Rounds    int           `placeholder:"N" default:"3" help:"How often each point is measured; they take turns (${default})."`
	Quick     bool          `help:"A twentieth of the requests, and the points that take little: shows that all works, the numbers are noise."`
	From      string        `placeholder:"FILE" help:"Measure nothing: take the rounds that an earlier --json has kept, for their tables and a drawing."`

	JSON string `name:"json" placeholder:"FILE" help:"Write all rounds as JSON; - is standard output, which then gets nothing else."`
	Plot string `placeholder:"FILE" help:"Draw the curves: FILE.svg or FILE.png."`
}

// Help goes on top of the flags.
func (c *scaleCmd) Help() string {
	return "Measures what this client costs while one thing grows and all else stays as it is, each point in a process of its own. " +
		"engines: with 64 live requests on each, so that messages stay as full; engines-total: with 256 on all of them together, so that messages become smaller. " +
		"streams: live ones that all get a token a step; streams-waiting: live ones of which 256 do, so that messages stay as full. " +
		"prompt: its tokens; aux: the bytes of a tensor that goes with each request. " +
		"A point that costs more than 2 times the one before, for a token or a byte, is called a cliff; it does not change the exit code."
}

// Run measures all curves in turn and prints each once it is done.
func (c *scaleCmd) Run(ctx context.Context, t terminal) error {
	if err := c.check(); err != nil {
		return err
	}
	draw, err := newDrawing(c.Plot, "zmq,plot ./bench scale")
	if err != nil {
		return err
	}
	curves := c.measureAll
	if c.From != "" {
		curves = c.kept
	}
	all, err := curves(ctx, t)
	if ctx.Err() != nil {
		err = errInterrupted // what failed meanwhile did so for that reason
	}
	if all == nil || len(all.Curves) == 0 {
		return err
	}
	if c.JSON != "-" {
		fmt.Fprintln(t.out, all.legend())
	}
	return errors.Join(err, writeJSON(c.JSON, t.out, all), draw(all))
}

// measureAll gives what there is of the curves with an error too.
func (c *scaleCmd) measureAll(ctx context.Context, t terminal) (*scaleReport, error) {
	curves, runs := c.curves(), 0
	for _, v := range curves {
		runs += len(v.Points) * c.Rounds
	}
	shown := newCompareProgress(t, runs)
	defer shown.erase()
	all := newScaleReport(c)
	for _, v := range curves {
		failed := c.measure(ctx, v, shown)
		if v.full() > 0 {
			v.sum()
			all.Curves = append(all.Curves, v)
			shown.erase()
			c.show(t, v)
		}
		if failed != nil {
			return all, failed
		}
	}
	return all, nil
}

// show prints a curve, unless standard output is for JSON.
func (c *scaleCmd) show(t terminal, v *curve) {
	if c.JSON != "-" {
		fmt.Fprintf(t.out, "%s\n%s\n\n", v.table(), v.verdict())
	}
}

// measure runs all points of a curve, as often as there are rounds. Each round begins
// with another one, so that none always has the same one before it.
func (c *scaleCmd) measure(ctx context.Context, v *curve, shown *compareProgress) error {
	for round := range c.Rounds {
		for i := range v.Points {
			p := v.Points[(i+round)%len(v.Points)]
			shown.step(fmt.Sprintf("%s: %s %s, round %d", v.Name, v.label(p.At), v.Axis, round+1))
			f, err := c.run(ctx, p)
			if err != nil {
				return fmt.Errorf("scale: %s, at %s %s: %w", v.Name, v.label(p.At), v.Axis, err)
			}
			f.Cost = v.cost(p, f)
			p.Rounds = append(p.Rounds, f)
		}
	}
	return nil
}
