// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// The two packets of an XSub that wants everything, and no longer does.
const (
	subscribe   = "\x01"
	unsubscribe = "\x00"
)

// Reasons of a SkippedError, next to *codec.DecodeError.
var (
	errFrames    = errors.New("one frame expected")
	errEngine    = errors.New("subscription to everything expected")
	errPayload   = errors.New("outputs or a utility result, which belong to clients")
	errEngines   = fmt.Errorf("number of engines is over %d", maxEngines)
	errWave      = errors.New("wave out of range")
	errRank      = errors.New("negative rank")
	errLoad      = errors.New("load out of range")
	errStale     = errors.New("an older step than the engine reported before")
	errUnmanaged = errors.New("load of a rank that is not managed")
)

// engine takes what arrives at back publish.
func (l *loop) engine(p transport.Packet) error {
	switch {
	case only(p, subscribe):
		first := !l.core.Ready()
		if !l.core.Subscribe() {
			return nil
		}
		if first {
			l.heard = time.Now() // the quiet before the first publication
		}
		return l.ready()
	case only(p, unsubscribe):
		l.core.Unsubscribe()
	default:
		l.skip("back publish", &l.counts.Malformed, errEngine)
	}
	return nil
}

// client takes what arrives at the front.
func (l *loop) client(p transport.Packet) error {
	if only(p, subscribe) || only(p, unsubscribe) {
		return nil
	}
	call, err := clientCall(p)
	switch {
	case err != nil:
		l.skip("front", &l.counts.Malformed, err)
	case call.Scale != 0:
		l.counts.Scaled++
		l.core.Scale(call.Scale)
	default:
		l.counts.FirstRequests++
		if wake, ok := l.core.FirstRequest(call.Engine, call.Wave); ok {
			return l.wake(wake)
		}
	}
	return nil
}

// clientCall decodes what a client says.
func clientCall(p transport.Packet) (codec.CoordinatorCall, error) {
	if len(p.Frames) != 1 {
		return codec.CoordinatorCall{}, errFrames
	}
	call, err := codec.DecodeCoordinatorCall(p.Frames[0])
	switch {
	case err != nil:
		return call, err
	case call.Scale > maxEngines:
		return call, errEngines
	}
	return call, nil
}

// output takes what arrives at back output.
func (l *loop) output(p transport.Packet) error {
	l.heard = time.Now()
	o, err := l.config.decode(p)
	if err != nil {
		l.skip("back output", &l.counts.Malformed, err)
		return nil
	}
	if load, ok := o.Load(); ok {
		switch l.core.Report(o.Engine, load) {
		case Applied:
			l.counts.Reports++
		case Stale:
			l.skip("back output", &l.counts.Stale, errStale)
		case Unmanaged:
			l.skip("back output", &l.counts.Unmanaged, errUnmanaged)
			return nil
		}
	}
	return l.waves(o)
}

// waves takes what an engine says of its wave. An end goes before a beginning. The
// beginning of a later wave tells that those before it have ended: another engine's word
// of that may come after it.
func (l *loop) waves(o *codec.Outputs) error {
	before := l.core.Waves().Wave
	switch {
	case o.WaveComplete != nil:
		if !l.core.WaveComplete(*o.WaveComplete) {
			return nil
		}
	case o.StartWave != nil:
		wake, ok := l.core.WaveStarted(*o.StartWave, o.Engine)
		if !ok {
			return nil
		}
		if err := l.wake(wake); err != nil {
			return err
		}
	default:
		return nil
	}
	now := l.core.Waves()
	l.counts.Waves += uint64(now.Wave - before)
	return l.tell(now)
}

// decode reads what an engine says, and holds it to what engines can mean.
func (c *Config) decode(p transport.Packet) (*codec.Outputs, error) {
	o, err := c.layout.DecodeOutputs(p.Frames)
	if err != nil {
		return nil, err
	}
	load, ok := o.Load()
	if !ok { // there is none, or it cannot be read
		if _, err := o.Stats(); err != nil {
			return nil, err
		}
	}
	switch {
	case len(o.Rows) > 0 || o.Utility != nil:
		return nil, errPayload
	case o.Engine < 0:
		return nil, errRank
	case !inRange(o.WaveComplete) || !inRange(o.StartWave):
		return nil, errWave
	case load.Waiting < 0 || load.Running < 0 || math.IsNaN(load.KVUsage) || math.IsInf(load.KVUsage, 0):
		return nil, errLoad
	}
	return o, nil
}

// inRange reports whether a wave can follow w.
func inRange(w *int) bool { return w == nil || *w >= 0 && *w < math.MaxInt }

func only(p transport.Packet, frame string) bool {
	return len(p.Frames) == 1 && string(p.Frames[0]) == frame
}
