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
// and skipped. 256 requests of a token each cost about 20 µs and 3 allocations.
func Decode(t *Table, rank int) Stage[transport.Packet, Decoded] {
	return func(ctx context.Context, in <-chan transport.Packet, out chan<- Decoded) error {
		malformed := 0
		for p := range in {
			d := Decoded{Rank: rank}
			var err error
			if d.Dead = codec.IsDead(p.Frames); !d.Dead {
				d.Outputs, err = t.layoutAt(rank).DecodeOutputs(p.Frames)
			}
			if err == nil {
				if o := d.Outputs; o != nil && o.Utility != nil {
					t.look(o.Engine, p.Frames[0])
				}
				if err := Emit(ctx, out, d); err != nil {
					return err
				}
				err = unreadable(d.Outputs)
			} else {
				t.malformed(rank, err)
			}
			if err == nil {
				malformed = 0
				continue
			}
			if malformed++; malformed%MaxMalformed != 0 || rank < 0 {
				continue
			}
			d = Decoded{Rank: rank, Dead: true, Err: fmt.Errorf("%d messages in a row are malformed: %w", malformed, err)}
			if err := Emit(ctx, out, d); err != nil {
				return err
			}
		}
		return nil
	}
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
