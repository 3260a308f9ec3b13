// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"strconv"
	"unicode/utf8"
)

// AppendOutputs appends the payload of a message to a client to dst and the
// data of tensors of 256 bytes and more to aux, by reference. Rare fields that
// the release does not know are left out: its clients do not look for them; a
// finish reason that it does not know becomes the nearest that it does. On
// an error, a *FieldError, dst and aux come back as they were. Plain rows cost
// no allocation when dst has room. vLLM: EngineCoreOutputs.
func (l *Layout) AppendOutputs(dst []byte, aux [][]byte, o *Outputs) ([]byte, [][]byte, error) {
	if !validText(o.Finished...) || !validText(o.WeightVersion) {
		return dst, aux, &FieldError{Message: "outputs", Field: "finished_requests", Rule: "is not valid UTF-8"}
	}
	e := encoder{b: dst, aux: aux, base: len(aux), layout: l}
	e.b = appendArray(e.b, len(l.outputs))
	for _, s := range l.outputs {
		e.outputsField(l, o, s)
	}
	if e.err != nil {
		return dst, aux, inMessage("outputs", "", e.err)
	}
	return e.b, e.aux, nil
}

func (e *encoder) outputsField(l *Layout, o *Outputs, s slot) {
	switch s.field {
	case fEngineIndex:
		e.b = appendInt(e.b, o.Engine)
	case fOutputs:
		e.rows(l, o.Rows)
	case fSchedulerStats:
		e.stats(&o.stats)
	case fTimestamp:
		e.b = appendFloat(e.b, o.Timestamp)
	case fUtilityOutput:
		e.utilityOutput(l, o.Utility)
	case fFinishedRequests:
		e.b = appendStrings(e.b, o.Finished)
	case fWaveComplete:
		e.b = appendOptInt(e.b, o.WaveComplete)
	case fStartWave:
		e.b = appendOptInt(e.b, o.StartWave)
	case fWeightVersion:
		e.b = appendText(e.b, o.WeightVersion)
	default:
		e.b = append(e.b, s.zero)
	}
}

func (e *encoder) stats(s *statsField) {
	switch {
	case s.raw != nil:
		e.b = append(e.b, s.raw...)
	case s.typed == nil:
		e.b = append(e.b, mNil)
	case e.err == nil:
		e.b, e.err = appendKeys(e.b, s.typed, e.layout.stats)
	}
}

func (e *encoder) rows(l *Layout, rows []Output) {
	finish := position(l.output, fFinishReason) - 2
	e.b = appendArray(e.b, len(rows))
	for i := range rows {
		row := &rows[i]
		if rule := row.encodable(); rule != "" {
			e.err = &FieldError{Message: "outputs", ID: cut(string(row.ID)), Field: "outputs", Rule: "row " + strconv.Itoa(i) + " " + rule}
		}
		if e.err != nil {
			return
		}
		e.b = append(appendTextHeader(appendArray(e.b, len(l.output)), len(row.ID)), row.ID...)
		if len(row.Tokens) == 1 {
			e.b = appendUint(append(e.b, 0x91), uint64(row.Tokens[0]))
		} else if e.b = appendArray(e.b, 0); len(row.Tokens) > 0 {
			e.b = appendTokens(e.b[:len(e.b)-1], row.Tokens)
		}
		if row.extra != nil {
			e.extra(l, row)
			continue
		}
		e.b = append(e.b, l.plain[:finish]...)
		e.finish(row.Finish)
		e.b = append(e.b, l.plain[finish+1:]...)
	}
}

func (o *Output) encodable() string {
	switch {
	case o.Err != nil:
		return "could not be decoded"
	case len(o.ID) == 0:
		return "has no id"
	case !utf8.Valid(o.ID):
		return "has an id that is not valid UTF-8"
	}
	return ""
}

func (e *encoder) finish(f FinishReason) {
	if f == FinishNone {
		e.b = append(e.b, mNil)
		return
	}
	e.b = appendUint(e.b, uint64(e.layout.reason(f)-1))
}
