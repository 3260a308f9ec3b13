// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

func TestRequestsOfRealVLLM(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	for _, f := range fixtures(t, "request.add") {
		t.Run(f.Name, func(t *testing.T) {
			r, err := l.DecodeRequest(f.frames())
			check(t, err)
			match(t, "request", f.Value, reflect.ValueOf(r))
			b, aux, err := l.AppendRequest(nil, nil, r)
			check(t, err)
			matchRaw(t, "raw", f.Raw, untyped(t, b))
			sameFrames(t, f.aux, aux)
		})
	}
}

func TestOutputsOfRealVLLM(t *testing.T) {
	for _, f := range fixtures(t, "output", "coordinator.engine_stats", "coordinator.wave_complete", "coordinator.start_wave", "skew.output") {
		if f.Kind == "output.engine_dead" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			l := layout(t, f.release())
			o, err := l.DecodeOutputs(f.frames())
			check(t, err)
			want := f.Value
			if f.Kind == "skew.output" {
				want = map[string]any{"outputs": []any{f.Value}}
			}
			if f.Name == "uout_insecure_struct" { // our result is the bare array.
				v, err := o.Utility.Result()
				check(t, err)
				matchRaw(t, "result", []any{"sql", json.Number("1"), "/a", nil, false, false}, v)
			} else {
				match(t, "outputs", want, reflect.ValueOf(o))
			}
			b, aux, err := l.AppendOutputs(nil, nil, o)
			check(t, err)
			sameFrames(t, f.aux, aux)
			switch f.Name {
			case "skew_short_output", "skew_long_output", "uout_insecure_bool", "uout_insecure_struct":
				// We answer in the length of the release, and without types.
			default:
				matchRaw(t, "raw", f.Raw, untyped(t, b))
			}
		})
	}
}

func sameFrames(t *testing.T, want, got [][]byte) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("want %d tensor frames, got %d", len(want), len(got))
	}
	for i := range want {
		if !bytes.Equal(want[i], got[i]) {
			t.Errorf("tensor frame %d differs", i+1)
		}
	}
}

// small are the messages that one pair of functions reads and writes.
var small = map[string]func([]byte) (any, []byte, error){
	"request.abort": func(b []byte) (any, []byte, error) {
		v, err := codec.DecodeAbort(b)
		return v, codec.AppendAbort(nil, v...), err
	},
	"request.utility": func(b []byte) (any, []byte, error) {
		v, err := codec.DecodeUtility(b)
		if err != nil {
			return nil, nil, err
		}
		out, err := codec.AppendUtility(nil, v)
		return []any{v.ClientIndex, v.CallID.String(), v.Method}, out, err
	},
	"handshake.hello": handshake, "handshake.ready": handshake, "skew.handshake_ready": handshake,
	"handshake.init": func(b []byte) (any, []byte, error) {
		v, err := codec.DecodeInit(b)
		if err != nil {
			return nil, nil, err
		}
		out, err := codec.AppendInit(nil, v)
		return v, out, err
	},
	"ready.response": func(b []byte) (any, []byte, error) {
		v, err := codec.DecodeReady(b)
		if err != nil {
			return nil, nil, err
		}
		out, err := codec.AppendReady(nil, v)
		return v, out, err
	},
	"coordinator.stats": counts, "skew.coordinator_stats": counts,
	"coordinator.first_req": call, "coordinator.scale": call,
	"coordinator.start_dp_wave": func(b []byte) (any, []byte, error) {
		w, x, err := codec.DecodeStartWave(b)
		return nil, codec.AppendStartWave(nil, w, x), err
	},
}

func handshake(b []byte) (any, []byte, error) {
	v, err := codec.DecodeHandshake(b)
	if err != nil {
		return nil, nil, err
	}
	out, err := codec.AppendHandshake(nil, v)
	return v, out, err
}

func counts(b []byte) (any, []byte, error) {
	v, err := codec.DecodeCounts(b)
	if err != nil {
		return nil, nil, err
	}
	return nil, codec.AppendCounts(nil, v), nil
}

func call(b []byte) (any, []byte, error) {
	v, err := codec.DecodeCoordinatorCall(b)
	return nil, codec.AppendCoordinatorCall(nil, v), err
}

func TestSmallMessagesOfRealVLLM(t *testing.T) {
	for kind, run := range small {
		for _, f := range fixtures(t, kind) {
			t.Run(f.Name, func(t *testing.T) {
				v, b, err := run(f.payload)
				check(t, err)
				if want, ok := f.Value.(map[string]any); ok {
					match(t, f.Kind, want, reflect.ValueOf(v))
				}
				got := untyped(t, b)
				switch f.Name {
				case "skew_0191_stats_counts": // we write rows of three.
				case "skew_0191_ready_handshake": // keys of another release.
				default:
					matchRaw(t, "raw", withoutLater(f.Raw, got), got)
				}
			})
		}
	}
}

// withoutLater drops the keys of 0.33.0 from a ready message of ours.
func withoutLater(raw, got any) any {
	if m, ok := got.(map[string]any); ok {
		for _, k := range []string{"coord_store_port", "coordinator_input_address", "coordinator_output_address"} {
			delete(m, k)
		}
	}
	return raw
}

func TestEveryFixtureIsCovered(t *testing.T) {
	n := 0
	for _, f := range fixtures(t) {
		switch f.Kind {
		case "coordinator.subscribe", "coordinator.unsubscribe", "coordinator.ready": // single bytes and a word.
		case "output.engine_dead":
			if !codec.IsDead([][]byte{f.payload}) {
				t.Error("the sentinel was not recognised")
			}
		case "skew.ready_input":
			if r, err := codec.DecodeReady(f.payload); r != nil || err != nil {
				t.Errorf("empty ready payload: got %v, %v", r, err)
			}
		}
		n++
	}
	if n != 138 {
		t.Errorf("want 138 fixtures, got %d", n)
	}
}
