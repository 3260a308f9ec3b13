// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// newProgress is a bar on standard error if that is a terminal, else nil. erase
// takes it away.
func newProgress(t terminal, p *plan) (progress func(ended int), erase func()) {
	if !isTerminal(t.err) {
		return nil, func() {}
	}
	bar := progressbar.NewOptions(p.Requests,
		progressbar.OptionSetWriter(t.err), progressbar.OptionSetDescription(p.transport+" "+p.policy),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("requests"),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return func(ended int) { _ = bar.Set(ended) }, func() { _ = bar.Clear() }
}

// isTerminal is true of what is shown to somebody while it is written.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	i, err := f.Stat()
	return err == nil && i.Mode()&os.ModeCharDevice != 0
}
