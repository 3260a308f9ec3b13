// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/bench/wire"
)

func TestEveryPrefixOfAFixtureIsAFaultAndShownAsFarAsItGoes(t *testing.T) {
	for _, f := range fixtures(t) {
		payload := f.payload()
		step := 1 + len(payload)/max(10, min(200, 100_000/(1+len(payload))))
		for n := 1; n < len(payload); n += step {
			m, err := wire.Decode([][]byte{payload[:n]}, wire.Options{Kind: wire.Value})
			fault, ok := errors.AsType[*wire.Fault](err)
			if !ok || fault.At < 0 || fault.At > n {
				if n == 1 || bytes.HasPrefix(payload, []byte("ENGINE")) || bytes.HasPrefix(payload, []byte("READY")) {
					continue // letters are msgpack integers
				}
				t.Fatalf("%s: %d of %d bytes: got %v", f.Name, n, len(payload), err)
			}
			if text := m.Append(nil, n%2 == 0); !json.Valid(text) {
				t.Fatalf("%s: %d of %d bytes: not JSON: %s", f.Name, n, len(payload), text)
			}
		}
	}
}

func TestFaultsNameTheByteTheFieldAndTheReason(t *testing.T) {
	row := "\x92\xa1a\x91\x01"
	for name, c := range map[string]struct {
		kind             wire.Kind
		payload, message string
	}{
		"cut inside a list of tokens": {wire.Outputs, "\x92\x00\x92" + row + "\x92\xa1b\x95\x01\x02",
			"wire: outputs: outputs[1].new_token_ids: array announces 5 values, there are 2 bytes at byte 11 (950102)"},
		"cut inside an id": {wire.Outputs, "\x92\x00\x91\x92\xa9abc",
			"wire: outputs: outputs[0].request_id: a string wants 9 bytes, there are 3 at byte 5 (616263)"},
		"a string for a token": {wire.Outputs, "\x92\x00\x92" + row + "\x92\xa1b\x92\x01\xa1x",
			"wire: outputs: outputs[1].new_token_ids[1]: * at byte 13 (a178)"},
		"a byte that msgpack has not": {wire.Abort, "\x92\xa1a\xc1", "wire: abort: [1]: a byte that msgpack does not use at byte 3 (c1)"},
		"trailing bytes":              {wire.Abort, "\x91\xa1a\x00", "wire: abort: 1 trailing bytes after the message at byte 3 (00)"},
		"ids that are none":           {wire.Abort, "\x92\xa1a\x05", "wire: abort: [1]: * at byte 3 (05)"},
		"invalid UTF-8":               {wire.Abort, "\x91\xa1\xff", "wire: abort: [0]: * at byte 2 (ff)"},
		"a bad key's value": {wire.Handshake, "\x82\xa6status\xa2OK\xa5local\x07",
			"wire: handshake: local: * at byte 17 (07)"},
		"a short row of counts": {wire.Counts, "\x93\x91\x91\x05\x00\xc3", "wire: counts: counts[0].waiting: * at byte 3 (0500c3)"},
		"an empty payload":      {wire.Outputs, "", "wire: outputs: the message ends here, a value is missing at byte 0"},
		"a pickle as a result": {wire.Outputs, "\x95\x00\x90\xc0\x01\x93\x07\xc0\x92\xc0\xd4\x01\x80",
			"wire: outputs: utility_output.result.result: * at byte 11 (0180)"},
		"statistics of another kind": {wire.Outputs, "\x93\x00\x90\x81\xb0num_waiting_reqs\xa1x",
			"wire: outputs: scheduler_stats.num_waiting_reqs: * at byte 21 (a178)"},
		"too few fields of a request": {wire.Request, "\x92\xa1a\x90", "wire: request: request_id: * at byte 1 (a16190)"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := wire.Decode([][]byte{[]byte(c.payload)}, wire.Options{Kind: c.kind, Release: "0.32.0"})
			if m == nil {
				t.Fatal(err)
			}
			all := m.Check()
			front, back, _ := strings.Cut(c.message, "*") // reasons of the codec are in its words
			if len(all) != 1 || !strings.HasPrefix(all[0].Error(), front) || !strings.HasSuffix(all[0].Error(), back) {
				t.Errorf("want %s\n got %v", c.message, all)
			}
		})
	}
}

func TestDeepNestingIsAFault(t *testing.T) {
	deep := bytes.Repeat([]byte{0x91}, 1<<20)
	_, err := wire.Decode([][]byte{deep}, wire.Options{Kind: wire.Value})
	if _, ok := errors.AsType[*wire.Fault](err); !ok || !strings.Contains(err.Error(), "deeper than 64") {
		t.Errorf("got %.200v", err)
	}
	text := strings.Repeat("[", 1<<20)
	if _, err := wire.Parse([]byte(text), wire.Options{}); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("got %.200v", err)
	}
}

func TestAnnouncedLengthsAreNotTrusted(t *testing.T) {
	for _, payload := range []string{
		"\xdd\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff", "\xdb\xff\xff\xff\xff", "\xc6\xff\xff\xff\xff", "\xc9\xff\xff\xff\xff\x03",
		strings.Repeat("\xdd\xff\xff\xff\xff", 60),
	} {
		got := testing.AllocsPerRun(1, func() {
			if _, err := wire.Decode([][]byte{[]byte(payload)}, wire.Options{Kind: wire.Value}); err == nil {
				t.Errorf("%q is no fault", payload)
			}
		})
		if got > 2000 {
			t.Errorf("%.20q: %v allocations", payload, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, x := range fixtures(f) {
		if len(x.all[len(x.all)-1]) < 2000 {
			f.Add(x.payload(), x.all[len(x.all)-1], uint8(0), uint8(7))
		}
	}
	releases := wire.Layouts()
	f.Fuzz(func(t *testing.T, payload, aux []byte, k, r uint8) {
		o := wire.Options{Kind: wire.Kinds()[int(k)%len(wire.Kinds())], Release: releases[int(r)%len(releases)].Since}
		m, err := wire.Decode([][]byte{payload, aux}, o)
		if m == nil {
			return
		}
		m.Check()
		text := m.Append(nil, false)
		if !json.Valid(text) || !json.Valid(m.Append(nil, true)) {
			t.Fatalf("not JSON: %s", text)
		}
		if err != nil {
			return
		}
		again, err := wire.Parse(text, wire.Options{})
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if text2 := again[0].Append(nil, false); !bytes.Equal(text, text2) {
			t.Fatalf("%s and then %s", text, text2)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"kind": "request", "message": {"request_id": "a", "prompt_token_ids": [1, 2]}}`))
	f.Add([]byte(`{"kind": "value", "message": {"dtype": "<f4", "shape": [2], "values": [1, {"float": "nan"}]}, "frames": [{"frame": 1, "base64": "AA=="}]}`))
	f.Add([]byte(`{"kind": "value", "message": {"map": [[1, {"ext": 1, "hex": "80"}], [{"bin": "00"}, {"str": "ff"}]]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := wire.Parse(text, wire.Options{})
		if err != nil {
			return
		}
		for _, m := range all {
			m.Check()
			if !json.Valid(m.Append(nil, false)) {
				t.Fatalf("not JSON: %s", m.Append(nil, false))
			}
		}
	})
}

func FuzzReadHex(f *testing.F) {
	for _, text := range []string{"00 01\n\nff", `b'\x00a'`, "00000000: 0001  ..", "00000000  00 01  |..|\n00000002", "-"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := wire.ReadHex(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, frames := range all {
			again, err := wire.ReadHex(bytes.NewReader(wire.AppendHex(nil, frames)))
			if err != nil || len(again) != 1 || len(again[0]) != len(frames) {
				t.Fatalf("%q: got %q, %v", frames, again, err)
			}
		}
	})
}
