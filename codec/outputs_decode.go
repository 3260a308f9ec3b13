// SPDX-License-Identifier: Apache-2.0

package codec

// DecodeOutputs reads one message of an engine, frames[0], with the tensor
// frames after it. The result aliases the frames. A row that cannot be read has
// Err set and spoils no other; a message whose structure is broken is a
// *DecodeError as a whole. Shorter arrays have the defaults at their end, longer
// ones are read over.
//
// 256 plain rows take three allocations: the Outputs, the rows, the tokens. A
// row with rare fields takes one more. All memory is at most 25 times the frame,
// and far less for what engines send. vLLM: EngineCoreOutputs.
func (l *Layout) DecodeOutputs(frames [][]byte) (*Outputs, error) {
	o := &Outputs{}
	if err := l.DecodeOutputsInto(o, frames); err != nil {
		return nil, err
	}
	return o, nil
}

// DecodeOutputsInto is DecodeOutputs into an Outputs that is new or Reset, whose rows'
// memory is used again: what is allocated is the tokens alone. After an error o is to
// be Reset.
func (l *Layout) DecodeOutputsInto(o *Outputs, frames [][]byte) error {
	if len(frames) == 0 {
		return &DecodeError{Message: "outputs", Row: -1, Reason: "no payload frame"}
	}
	c := cursor{b: frames[0], aux: frames[1:]}
	for i := range c.array() {
		if i >= len(l.outputs) {
			c.skip()
			continue
		}
		c.field = l.outputs[i].field.String()
		c.outputsField(l, o, l.outputs[i].field)
	}
	c.end()
	return c.err("outputs", -1)
}

// Reset empties o for DecodeOutputsInto and lets go of its message. What was copied
// out of Rows stays as it is.
func (o *Outputs) Reset() {
	rows := o.Rows
	clear(rows)
	*o = Outputs{Rows: rows[:0]}
}

func (c *cursor) outputsField(l *Layout, o *Outputs, f field) {
	switch f {
	case fEngineIndex:
		o.Engine = c.int()
	case fOutputs:
		c.rows(l, o)
	case fSchedulerStats:
		if !c.null() {
			at := c.at
			c.mapping()
			c.at = at
			o.stats.raw = c.raw()
		}
	case fTimestamp:
		o.Timestamp = c.float()
	case fUtilityOutput:
		o.Utility = c.utilityOutput(l)
	case fFinishedRequests:
		o.Finished = c.strings()
	case fWaveComplete:
		o.WaveComplete = c.optInt()
	case fStartWave:
		o.StartWave = c.optInt()
	case fWeightVersion:
		o.WeightVersion = c.optText()
	default:
		c.skip()
	}
}

func (c *cursor) optInt() *int {
	if c.null() {
		return nil
	}
	return new(c.int())
}
