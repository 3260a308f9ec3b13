// SPDX-License-Identifier: Apache-2.0

package wire

import "github.com/corepipe/corepipe/codec"

// faults decodes a payload with the codec, all of it.
func faults(k Kind, l *codec.Layout, payload []byte, aux [][]byte) []objection {
	var err error
	switch k {
	case Request:
		err = request(l, append([][]byte{payload}, aux...))
	case Outputs:
		return outputs(l, append([][]byte{payload}, aux...))
	case Abort:
		_, err = codec.DecodeAbort(payload)
	case Wave:
		_, _, err = codec.DecodeStartWave(payload)
	case Utility:
		_, err = codec.DecodeUtility(payload)
	case Ready:
		_, err = codec.DecodeReady(payload)
	case Handshake:
		_, err = codec.DecodeHandshake(payload)
	case Init:
		_, err = codec.DecodeInit(payload)
	case Counts:
		_, err = codec.DecodeCounts(payload)
	case Coordinator:
		_, err = codec.DecodeCoordinatorCall(payload)
	default:
		_, err = codec.DecodeValue(payload)
	}
	if err != nil {
		return []objection{{err: err}}
	}
	return nil
}

func request(l *codec.Layout, frames [][]byte) error {
	r, err := l.DecodeRequest(frames)
	if err != nil {
		return err
	}
	return r.Validate()
}

// outputs looks also at what the codec reads only when it is asked to.
func outputs(l *codec.Layout, frames [][]byte) (all []objection) {
	o, err := l.DecodeOutputs(frames)
	if err != nil {
		return []objection{{err: err}}
	}
	for i := range o.Rows {
		err := o.Rows[i].Err
		if err == nil {
			_, err = o.Rows[i].Extra()
		}
		if err != nil {
			all = append(all, objection{err: err})
		}
	}
	if _, err := o.Stats(); err != nil {
		all = append(all, objection{err, []string{"scheduler_stats"}})
	}
	if o.Utility == nil {
		return all
	}
	if _, err := o.Utility.Result(); err != nil {
		in := []string{"utility_output", "result"}
		if len(l.Fields(codec.StructUtilityResult)) > 0 {
			in = append(in, "result")
		}
		all = append(all, objection{err, in})
	}
	return all
}
