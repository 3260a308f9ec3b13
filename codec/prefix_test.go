// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// whole is a valid message and the one function that reads it.
type whole struct {
	name  string
	frame []byte
	read  func(b []byte) error
}

// wholes are all fixtures, and the messages of all releases on file.
func wholes(t *testing.T) []whole {
	var out []whole
	add := func(name, release, kind string, frame []byte) {
		l := layout(t, release)
		out = append(out, whole{name, frame, func(b []byte) error { return readers[kind](l, b) }})
	}
	kinds := map[string]string{
		"request.abort": "abort", "request.utility": "utility", "handshake.hello": "handshake", "handshake.ready": "handshake",
		"skew.handshake_ready": "handshake", "handshake.init": "init", "ready.response": "ready", "coordinator.stats": "counts",
		"skew.coordinator_stats_output": "counts", "coordinator.first_req": "coordinator call", "coordinator.scale_elastic_ep": "coordinator call",
		"coordinator.start_dp_wave": "start wave",
	}
	for _, f := range fixtures(t) {
		kind := kinds[f.Kind]
		switch f.Kind {
		case "coordinator.subscribe", "coordinator.unsubscribe", "coordinator.ready", "output.engine_dead", "skew.ready_input":
			continue
		case "request.add", "skew.request":
			kind = "request"
		}
		if kind == "" {
			kind = "outputs"
		}
		add(f.Name, f.release(), kind, f.payload)
	}
	files, err := filepath.Glob("testdata/versions/*.json")
	check(t, err)
	for _, file := range files {
		var v released
		readJSON(t, file, &v)
		for kind, text := range map[string]string{"request": v.Add.Hex, "request of pooling": v.AddPooling.Hex, "outputs": v.Outputs.Hex} {
			b, err := hex.DecodeString(text)
			check(t, err)
			add(v.Version+" "+kind, v.Version, kind[:7], b)
		}
	}
	return out
}

// Each prefix is an error of the one decoder that the message is for, and what
// decoding it allocates stays in proportion to it: 80 bytes for each of its own,
// which is what values of any kind may take, and an error.
func TestEveryPrefixIsAnErrorInBoundedMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, w := range wholes(t) {
		if err := w.read(w.frame); err != nil && !strings.Contains(err.Error(), "tensor frame") {
			t.Errorf("%s as a whole: %v", w.name, err)
		}
		cuts := []int{}
		for n := range len(w.frame) {
			if n < 1000 || n > len(w.frame)-1000 {
				cuts = append(cuts, n)
			}
		}
		bytes, most := 0, 0
		used := heap(func() {
			for _, n := range cuts {
				if n == 0 && w.frame[0]&0xf0 != 0x90 && w.frame[0] != 0xdc { // an empty ready message is one
					continue
				}
				if err := w.read(w.frame[:n:n]); err == nil {
					t.Errorf("%s: %d of %d bytes are read", w.name, n, len(w.frame))
				}
				bytes, most = bytes+n, max(most, n)
			}
		})
		if limit := uint64(80*bytes + 2048*len(cuts)); used > limit {
			t.Errorf("%s: %d prefixes of %d bytes at most take %d bytes, over %d", w.name, len(cuts), most, used, limit)
		}
	}
}

func TestCallIDsOfTheWholeRange(t *testing.T) {
	for _, id := range []codec.CallID{
		{}, {N: 1}, {N: 1<<63 - 1}, {N: 1 << 63}, {N: 1<<63 + 1}, {N: 1<<64 - 1},
		codec.ElasticCall(), codec.FaultCall(), {N: 1<<63 - 1, Negative: true}, {N: 1 << 63, Negative: true},
	} {
		b, err := codec.AppendUtility(nil, &codec.UtilityCall{CallID: id, Method: "m"})
		check(t, err)
		call, err := codec.DecodeUtility(b)
		check(t, err)
		l := layout(t, codec.DefaultRelease)
		b, _, err = l.AppendOutputs(nil, nil, &codec.Outputs{Utility: &codec.UtilityOutput{CallID: id}})
		check(t, err)
		o, err := l.DecodeOutputs([][]byte{b})
		check(t, err)
		if call.CallID != id || o.Utility.CallID != id {
			t.Errorf("%v: got %v in the call and %v in the answer", id, call.CallID, o.Utility.CallID)
		}
	}
}
