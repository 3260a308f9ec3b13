// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"time"

	"github.com/cheggaaa/pb/v3"
)

// newProgress is a bar on standard error if that is a terminal, else nil. erase
// takes it away.
func newProgress(t terminal, p *plan) (progress func(ended int), erase func()) {
	if !isTerminal(t.err) {
		return nil, func() {}
	}
	bar := pb.New(p.Requests).SetWriter(t.err).SetTemplate(progressLine).SetRefreshRate(100 * time.Millisecond)
	bar.Set("what", p.transport+" "+p.policy).Set(pb.CleanOnFinish, true).Start()
	return func(ended int) { bar.SetCurrent(int64(ended)) }, func() { bar.Finish() }
}

// progressLine shows what runs, how far it is, and how fast.
const progressLine = `{{string . "what"}} {{counters . }} {{bar . }} {{speed . "%s requests/s"}} {{rtime . "%s left"}}`

// isTerminal is true of what is shown to somebody while it is written.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	i, err := f.Stat()
	return err == nil && i.Mode()&os.ModeCharDevice != 0
}
