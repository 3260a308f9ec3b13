// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"cmp"
	"time"

	"github.com/corepipe/corepipe/codec"
)

// clock is an engine's time: steps count from 0 in each wave.
type clock struct{ wave, step int }

// never is before every step.
var never = clock{-1, -1}

func (c clock) before(d clock) bool {
	return cmp.Or(cmp.Compare(c.wave, d.wave), cmp.Compare(c.step, d.step)) < 0
}

// Verdict is what became of a report.
type Verdict uint8

// The verdicts.
const (
	// Applied reports are published next.
	Applied Verdict = iota
	// Stale reports are older than one that the same engine sent before. (vLLM
	// measures all engines with one clock, warns, and takes the report.)
	Stale
	// Unmanaged reports are of a rank that is not coordinated, as those of a
	// new rank before Scale.
	Unmanaged
)

// Report takes an engine's load. In lockstep each engine has a clock of its own,
// so the report of one that lags behind the others counts; and a step that no
// engine has reported before closes the loads of the one before it, which are
// published first if they had not been: a publication never mixes two steps.
func (c *Core) Report(rank int, load codec.Load) Verdict {
	if rank < 0 || rank >= len(c.engines) {
		return Unmanaged
	}
	e := &c.engines[rank]
	if c.lockstep {
		now := clock{load.Wave, load.Step}
		if now.before(e.last) {
			return Stale
		}
		e.last = now
		if c.newest.before(now) {
			if c.changed {
				c.closed = c.rows()
			}
			c.newest = now
		}
	}
	e.row = codec.CountsRow{Waiting: load.Waiting, Running: load.Running, KVUsage: load.KVUsage}
	c.changed = true
	return Applied
}

// Publish gives what clients are to be told of the loads, and takes it as told.
func (c *Core) Publish() codec.Counts {
	counts := codec.Counts{Rows: c.closed, Wave: c.wave, Running: c.running}
	if c.closed == nil {
		counts.Rows, c.changed = c.rows(), false
	}
	c.closed = nil
	return counts
}

// rows copies the loads.
func (c *Core) rows() []codec.CountsRow {
	rows := make([]codec.CountsRow, len(c.engines))
	for i := range c.engines {
		rows[i] = c.engines[i].row
	}
	return rows
}

// Pace says when loads are published. Zero fields are vLLM's values.
type Pace struct {
	// Interval is from one publication to the next while loads change. Default
	// 100 ms. vLLM: min_stats_update_interval_ms.
	Interval time.Duration
	// Keepalive is the same while they do not. Default 5 s.
	Keepalive time.Duration
	// Quiet, in lockstep, is how long no engine must have said anything, so
	// that a step's reports are all in. Default 50 ms.
	Quiet time.Duration
}

// Defaults of Pace.
const (
	DefaultInterval  = 100 * time.Millisecond
	DefaultKeepalive = 5 * time.Second
	DefaultQuiet     = 50 * time.Millisecond
)

func (p Pace) withDefaults() Pace {
	return Pace{
		cmp.Or(p.Interval, DefaultInterval), cmp.Or(p.Keepalive, DefaultKeepalive), cmp.Or(p.Quiet, DefaultQuiet),
	}
}

// Due is when to call Publish next, given when it was last called (zero for
// never) and when an engine last said anything. A time in the past is now.
func (c *Core) Due(p Pace, published, heard time.Time) time.Time {
	p = p.withDefaults()
	due := published.Add(p.Keepalive)
	if c.changed {
		due = published.Add(p.Interval)
	}
	if quiet := heard.Add(p.Quiet); c.quiet() && due.Before(quiet) {
		due = quiet
	}
	return due
}

// quiet reports whether to publish only when the engines have been quiet. A
// closed step has all its reports.
func (c *Core) quiet() bool { return c.lockstep && c.closed == nil }
