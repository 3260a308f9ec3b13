// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/cheggaaa/pb/v3"
)

// compareProgress shows which run it is, if standard error is a terminal.
type compareProgress struct {
	bar *pb.ProgressBar
	out io.Writer
	n   int64 // runs begun
	all int
}

func newCompareProgress(t terminal, runs int) *compareProgress {
	if !isTerminal(t.err) {
		return &compareProgress{}
	}
	return &compareProgress{out: t.err, all: runs}
}

// next shows the run that begins.
func (p *compareProgress) next(client string, s setting, round int) {
	p.step(fmt.Sprintf("engines: %d, %s, %v: %s, round %d", s.Engines, s.Transport, s.step(), client, round+1))
}

// step shows what begins.
func (p *compareProgress) step(what string) {
	if p.out == nil {
		return
	}
	if p.bar == nil {
		p.bar = pb.New(p.all).SetWriter(p.out).SetTemplate(compareLine)
		p.bar.Set(pb.CleanOnFinish, true).Start()
	}
	p.bar.Set("what", what).SetCurrent(p.n)
	p.n++
}

const compareLine = `{{counters . }} {{bar . }} {{string . "what"}}`

// erase takes the line away until the next run.
func (p *compareProgress) erase() {
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
