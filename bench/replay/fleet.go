// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/corepipe/corepipe/policy"
)

// Fleet is the engines, and how much their client knows of them. The zero value is
// four engines of speed 1 that report when something changes.
type Fleet struct {
	Engines int // default 4
	Model   Model
	// Speeds are by rank, and start again where there are more engines: 1, 1, 0.5
	// makes every third engine take twice as long. Default 1.
	Speeds []float64

	// Report is how often the coordinator passes on what engines said at the end
	// of their last step; 0 makes reports that are always true.
	Report time.Duration
	// Silent is when the coordinator says its last word; 0 is never.
	Silent time.Duration
	// StaleAfter is how old a report may be. Default 10 s, as in pipeline.
	StaleAfter time.Duration

	// Dies is when the engine of rank 0 dies; 0 is never. What it has fails, and is
	// not tried again. Returns is when it is there again, with an empty cache; 0
	// is never.
	Dies, Returns time.Duration
}

// MaxEngines bounds a Fleet.
const MaxEngines = 4096

func (f Fleet) filled() (Fleet, error) {
	if f.Engines == 0 {
		f.Engines = 4
	}
	if f.StaleAfter == 0 {
		f.StaleAfter = 10 * time.Second
	}
	if len(f.Speeds) == 0 {
		f.Speeds = []float64{1}
	}
	f.Model = f.Model.filled()
	return f, f.check()
}

// check says what is wrong with a filled fleet.
func (f *Fleet) check() error {
	if f.Engines < 1 || f.Engines > MaxEngines {
		return fmt.Errorf("replay: Fleet.Engines: must be 1 to %d, is %d", MaxEngines, f.Engines)
	}
	for _, s := range f.Speeds {
		if !(s > 0) || math.IsInf(s, 1) {
			return fmt.Errorf("replay: Fleet.Speeds: must be positive and finite, is %v", s)
		}
	}
	for _, d := range []struct {
		name string
		time.Duration
	}{{"Report", f.Report}, {"Silent", f.Silent}, {"StaleAfter", f.StaleAfter}, {"Dies", f.Dies}, {"Returns", f.Returns}} {
		if d.Duration < 0 {
			return fmt.Errorf("replay: Fleet.%s: must not be negative, is %v", d.name, d.Duration)
		}
	}
	if f.Returns > 0 && (f.Dies == 0 || f.Returns <= f.Dies) {
		return fmt.Errorf("replay: Fleet.Returns: must be after Dies, %v, is %v", f.Dies, f.Returns)
	}
	return f.Model.check()
}

// Run replays t with each of the policies, which must be new, and returns what came of
// it in their order. A request that can never fit into the KV cache counts as failed,
// and so does one for which a policy picks no engine.
//
// When ctx ends it returns its error and what there is. A policy's panics are the
// caller's.
func Run(ctx context.Context, f Fleet, t Trace, policies ...policy.Policy) ([]*Result, error) {
	f, err := f.filled()
	if err != nil {
		return nil, err
	}
	if len(t) == 0 {
		return nil, ErrEmptyTrace
	}
	for i := range t {
		if err := t[i].check(); err != nil {
			return nil, fmt.Errorf("replay: request %d: %w", i, err)
		}
		if i > 0 && t[i].At < t[i-1].At {
			return nil, fmt.Errorf("replay: request %d: at: is before that of the one before", i)
		}
	}
	texts, names := textsOf(t)
	var results []*Result
	for _, p := range policies {
		if err := ctx.Err(); err != nil {
			return results, err
		}
		results = append(results, newWorld(f, t, texts, names, p).run())
	}
	return results, nil
}
