// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"time"

	"github.com/corepipe/corepipe/codec"
)

// flight is the request that is live in a slot.
type flight struct {
	n           int // number of the request, which its id ends with
	live        bool
	abort       bool // after its first token
	began, last time.Duration
	want        formula
	answer      answer
}

// of finds a live request by its id.
func (l *rawLoop) of(id []byte) *flight {
	start := len(l.source.prefix)
	if len(id) <= start || string(id[:start]) != l.source.prefix {
		return nil
	}
	n := 0
	for _, digit := range id[start:] {
		n = n*10 + int(digit-'0')
	}
	if n < 0 {
		return nil
	}
	if f := &l.flights[n%len(l.flights)]; f.live && f.n == n {
		return f
	}
	return nil
}

// row takes an output and says how its request ended, which is endStopped for one
// that goes on.
func (l *rawLoop) row(f *flight, row *codec.Output, now time.Duration) (end, error) {
	if row.Err != nil {
		return endFailed, row.Err
	}
	a := &f.answer
	if n := len(row.Tokens); n > 0 {
		if a.tokens == 0 {
			a.first = now - f.began
		} else if !l.noITL {
			l.waited((now-f.last)/time.Duration(n), n)
		}
		f.last, a.tokens, a.whole = now, a.tokens+n, now-f.began
		if l.verify {
			if err := f.want.check(row.Tokens); err != nil {
				return endFailed, err
			}
		}
	}
	switch {
	case row.Finish == codec.FinishNone && f.abort && a.tokens > 0:
		return endAborted, nil
	case row.Finish == codec.FinishNone:
		return endStopped, nil
	case row.Finish != codec.FinishLength:
		return endFailed, fmt.Errorf("load: request %s: finished with %v", a.id, row.Finish)
	case a.tokens != l.output:
		return endFailed, fmt.Errorf("load: request %s ended after %d of %d tokens", a.id, a.tokens, l.output)
	}
	return endDone, nil
}

// waited records a wait, together with those before if they are alike.
func (l *rawLoop) waited(each time.Duration, tokens int) {
	if each != l.wait.each {
		l.flush()
		l.wait.each = each
	}
	l.wait.tokens += tokens
}

func (l *rawLoop) flush() {
	if l.wait.tokens > 0 {
		record(l.itl, l.wait.each, l.wait.tokens)
		l.wait.tokens = 0
	}
}
