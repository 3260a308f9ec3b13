// SPDX-License-Identifier: Apache-2.0

package policy

import "math"

// ewma is a mean in which older values fade.
type ewma struct {
	mean float64
	n    int
}

// add takes in x with at least the share step, and more while there are few.
func (m *ewma) add(x, step float64) {
	m.n++
	m.mean += (x - m.mean) * max(step, 1/float64(m.n))
}

// or is the mean, or otherwise before there is any.
func (m *ewma) or(otherwise float64) float64 {
	if m.n == 0 {
		return otherwise
	}
	return m.mean
}

// positive is n, or a default where n is not set.
func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// weight is a capacity: w, or 1 where that is none (not set, negative, infinite,
// not a number).
func weight(w float64) float64 {
	if w > 0 && !math.IsInf(w, 1) {
		return w
	}
	return 1
}
