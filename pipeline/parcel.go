// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"sync"
	"sync/atomic"

	"github.com/corepipe/corepipe/codec"
)

// parcel is the memory of one decoded message, from a decode stage to whoever is
// last to look at it: dispatch, or the reader of the raw feed. What is dropped on
// the way is garbage.
type parcel struct {
	outputs codec.Outputs
	turn    atomic.Uint64 // one more each time it is given back
}

// lent is a use of a parcel; the zero one is of a message that is nobody's.
type lent struct {
	parcel *parcel
	turn   uint64 // the parcel's for this use
}

// maxRows bounds the memory that an idle parcel holds on to.
const maxRows = 4096

// parcels are those that nobody uses.
type parcels struct{ pool sync.Pool }

// take lends an empty one.
func (p *parcels) take() lent {
	b, ok := p.pool.Get().(*parcel)
	if !ok {
		b = new(parcel)
	}
	return lent{b, b.turn.Load()}
}

// over says that the use has ended: a stage has passed the message on twice.
func (l lent) over() bool { return l.parcel != nil && l.parcel.turn.Load() != l.turn }

// give ends the use.
func (p *parcels) give(l lent) {
	b := l.parcel
	if b == nil || !b.turn.CompareAndSwap(l.turn, l.turn+1) {
		return
	}
	if b.outputs.Reset(); cap(b.outputs.Rows) <= maxRows {
		p.pool.Put(b)
	}
}
