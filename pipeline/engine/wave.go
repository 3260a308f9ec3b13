// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/corepipe/corepipe/codec"

// waves is what one rank of a lockstep group knows of waves, without a clock:
// a wave begins when a rank has work and ends when none has (protocol.md 5.4;
// vLLM: DPEngineCoreProc). Waves are counted from 0 by each rank for itself; a
// newer number is taken over from whoever names it.
type waves struct {
	rank        int
	coordinated bool // there is somebody to wake the other ranks
	starts      bool // every first request does, not only one of an ended wave

	number  int  // the wave they are in or will start next. vLLM: current_wave
	step    int  // of this wave. vLLM: step_counter
	running bool // vLLM: engines_running
	ran     bool // the same at the end of the last step. vLLM: was_running
	pausing bool // told to pause, as others may not be yet. vLLM: pending_pause
	paused  bool // all were told: wakes are not heard. vLLM: ignore_start_dp_wave
	news    []waveNews
}

// waveNews is an end or a beginning to be told.
type waveNews struct {
	wave     int
	complete bool
}

func (w *waves) say(complete bool) { w.news = append(w.news, waveNews{w.number, complete}) }

// request hears that a request came which its client believed to be of wave. One
// of a wave that is over finds the others asleep, and nobody but this rank knows.
// One of the present wave is the client's to tell, up to 0.32.0.
func (w *waves) request(wave int) {
	if !w.coordinated {
		return
	}
	over := wave < w.number
	w.number = max(w.number, wave)
	if (over || w.starts) && !w.running && !w.paused {
		w.running = true
		w.say(false)
	}
}

// wake hears that others run. An identity excludes nobody: it is no number.
func (w *waves) wake(wave int, x codec.Exclude) {
	mine := x.Set && !x.Identity && x.Rank == w.rank
	if w.paused || mine || wave < w.number {
		return
	}
	w.number, w.running = wave, true
}

// pause asks for a rest, which begins when all ranks have been asked. Until then
// the rank runs, so that they meet.
func (w *waves) pause() { w.pausing, w.running = true, true }

// resume ends it. The rank takes a step, in which all meet that resume.
func (w *waves) resume() {
	w.running = w.running || w.paused
	w.pausing, w.paused = false, false
}

// begin counts a step and reports whether the ranks look in it for work that is
// left. vLLM: _has_global_unfinished_reqs.
func (w *waves) begin(interval int) (look bool) {
	w.step++
	return w.step == 1 || w.step%interval == 0
}

// end ends a step after which the group goes on, or the wave is over.
func (w *waves) end(goesOn, allPause bool) {
	if allPause {
		w.paused, w.pausing = true, false
	}
	w.running = goesOn
	switch {
	case !goesOn:
		if w.rank == 0 || !w.coordinated {
			w.say(true)
		}
		w.number++
		w.step = 0
	case !w.ran && w.rank == 0 && w.coordinated && !w.pausing:
		w.say(false) // also if it was woken: a wake proves nothing, a paused rank drops it
	}
	w.ran = goesOn
}
