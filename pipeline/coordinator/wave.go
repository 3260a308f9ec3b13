// SPDX-License-Identifier: Apache-2.0

package coordinator

import "github.com/corepipe/corepipe/codec"

// Wake is what all engines are told, so that none of them works alone: to start
// a wave, except the one that has started it already. vLLM: START_DP_WAVE.
type Wake struct {
	Wave    int
	Exclude codec.Exclude
}

// FirstRequest hears from a client that it gave engine a request while it knew
// the engines to be asleep before wave. True asks for the Wake to be sent.
//
// A wake proves nothing: a paused engine drops it. So Running stays false until
// an engine says that it runs, and each first request until then wakes again. An
// engine whose request is of a wave that has ended is not left out: it is asleep
// in the present one. vLLM: FIRST_REQ.
func (c *Core) FirstRequest(engine codec.Exclude, wave int) (Wake, bool) {
	if !c.lockstep || c.running {
		return Wake{}, false
	}
	if wave < c.wave {
		engine = codec.Exclude{}
	}
	return Wake{c.wave, engine}, true
}

// WaveStarted hears from an engine that it runs in wave: rank 0 tells whenever
// it begins to, the others when a request of an ended wave woke them. True asks
// for the Wake to be sent to the engines and Waves to the clients; it is false
// for what is known. vLLM: start_wave.
func (c *Core) WaveStarted(wave, rank int) (Wake, bool) {
	if !c.lockstep || wave < c.wave || wave == c.wave && c.running {
		return Wake{}, false
	}
	c.wave, c.running = wave, true
	return Wake{wave, codec.ExcludeRank(rank)}, true
}

// WaveComplete hears that no engine has work left in wave, so that all of them
// sleep before the next. True asks for Waves to be sent to the clients; it is
// false for a wave that is known to have ended. vLLM: wave_complete.
func (c *Core) WaveComplete(wave int) bool {
	if !c.lockstep || wave < c.wave {
		return false
	}
	c.wave, c.running = wave+1, false
	return true
}

// Waves gives what clients are to be told of the wave, without loads.
func (c *Core) Waves() codec.Counts { return codec.Counts{Wave: c.wave, Running: c.running} }
