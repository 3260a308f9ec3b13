// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/corepipe/corepipe/codec"

// Utility implements Core. A pause is one of the group: a rank takes part in
// steps until all have been told. vLLM answers only then; this answers at once.
func (r *Rank) Utility(method string, args []any) (any, error) {
	v, err := r.core.Utility(method, args)
	if err != nil {
		return nil, err
	}
	switch method {
	case "pause_scheduler", "pause_generation", "sleep":
		r.pause()
	case "resume_scheduler", "wake_up":
		r.resume()
	}
	return v, nil
}

// Dead implements Mortal.
func (r *Rank) Dead() (error, bool) {
	if r.mortal == nil {
		return nil, false
	}
	return r.mortal.Dead()
}

func (r *Rank) dead() bool {
	err, _ := r.Dead()
	return err != nil
}

// Load implements Loader: the core's, with the group's clock.
func (r *Rank) Load() codec.Load {
	l := codec.Load{Running: len(r.live)}
	if r.loader != nil {
		l = r.loader.Load()
	}
	l.Wave, l.Step = r.number, r.step
	return l
}

// Ready implements Describer.
func (r *Rank) Ready() codec.Ready {
	var ready codec.Ready
	if d, ok := r.core.(Describer); ok {
		ready = d.Ready()
	}
	ready.DataParallelRank, ready.DataParallelSize = r.rank, r.group.size
	return ready
}
