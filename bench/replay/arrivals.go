// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"math"
	"math/rand/v2"
	"time"
)

// arrivals are times, one after the other.
type arrivals struct {
	rand        *rand.Rand
	shape, mean float64 // of the time between two, in seconds
	on, off     float64 // seconds; 0: always on
	at          float64 // seconds that were on
}

func (m *maker) arrivals(rate float64) *arrivals {
	a := &arrivals{rand: m.rand, shape: m.Burstiness, mean: 1 / rate}
	if m.On > 0 && m.Off > 0 {
		a.on, a.off = m.On.Seconds(), m.Off.Seconds()
		a.mean *= a.on / (a.on + a.off)
	}
	return a
}

func (a *arrivals) next() time.Duration {
	a.at += gamma(a.rand, a.shape) / a.shape * a.mean
	at := a.at
	if a.on > 0 {
		at += math.Floor(at/a.on) * a.off
	}
	return time.Duration(at * float64(time.Second))
}

// gamma draws from the gamma distribution of a shape and scale 1, by Marsaglia and
// Tsang's rejection.
func gamma(r *rand.Rand, shape float64) float64 {
	if shape == 1 {
		return r.ExpFloat64()
	}
	if shape < 1 {
		return gamma(r, shape+1) * math.Pow(1-r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
