// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"fmt"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// MaxMalformed is how many messages in a row may be malformed before their
// engine is given up: its requests would wait for ever for what they lost. A
// message counts too of which no row can be read. Where several engines share an
// output address nobody is given up, because nobody can be named.
const MaxMalformed = 8

// Decode is the stage that decodes the outputs of one engine, or, with rank -1,
// of all engines that share an output address. A malformed message is counted
// and skipped. 256 requests of a token each cost about 20 µs and one allocation.
func Decode(t *Table, rank int) Stage[transport.Packet, Decoded] {
	return func(ctx context.Context, in <-chan transport.Packet, out chan<- Decoded) error {
		d := decoder{table: t, rank: rank, emit: func(v Decoded) error { return Emit(ctx, out, v) }}
		return serve(ctx, in, false, d.packet)
	}
}

// decoder is the state of one Decode stage.
type decoder struct {
	table     *Table
	rank      int
	emit      func(Decoded) error
	malformed int // messages in a row
}

// packet decodes one message and hands it on; an error means that the group has ended.
func (d *decoder) packet(p transport.Packet) error {
	v := Decoded{Rank: d.rank}
	var err error
	if v.Dead = codec.IsDead(p.Frames); !v.Dead {
		v.lent = d.table.parcels.take()
		v.Outputs = &v.lent.parcel.outputs
		err = d.table.layoutAt(d.rank).DecodeOutputsInto(v.Outputs, p.Frames)
	}
	if err == nil {
		if o := v.Outputs; o != nil && o.Utility != nil {
			d.table.look(o.Engine, p.Frames[0])
		}
		err = unreadable(v.Outputs) // before it is handed on: the rows may be others' then
		if err := d.emit(v); err != nil {
			return err
		}
	} else {
		d.table.parcels.give(v.lent)
		d.table.malformed(d.rank, err)
	}
	if err == nil {
		d.malformed = 0
		return nil
	}
	if d.malformed++; d.malformed%MaxMalformed != 0 || d.rank < 0 {
		return nil
	}
	return d.emit(Decoded{
		Rank: d.rank, Dead: true,
		Err: fmt.Errorf("%d messages in a row are malformed: %w", d.malformed, err),
	})
}

// unreadable is why no row of o could be read; nil when one could, or there is none.
func unreadable(o *codec.Outputs) error {
	if o == nil || len(o.Rows) == 0 {
		return nil
	}
	for i := range o.Rows {
		if o.Rows[i].Err == nil {
			return nil
		}
	}
	return o.Rows[0].Err
}
