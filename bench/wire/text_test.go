// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/bench/wire"
	"github.com/corepipe/corepipe/codec"
)

func TestFramesInHexadecimal(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a line a frame":                   {"00\n9201\n", "[[00 9201]]"},
		"an empty line between messages":   {"00\n\n\n9201\r\n0102", "[[00] [9201 0102]]"},
		"blanks, colons, commas and 0x":    {"92 01, 0x02:03\n0X04", "[[92010203 04]]"},
		"escapes":                          {`\x92\x01`, "[[9201]]"},
		"comments":                         {"# type\n00\n", "[[00]]"},
		"an empty frame":                   {"0100\n-", "[[0100 ]]"},
		"bytes as Python shows them":       {`b'\x92a\t\'"\\'` + "\n" + `b"'"`, "[[9261092722" + "5c 27]]"},
		"xxd":                              {"00000000: 9201 0203 0405 0607 0809 0a0b 0c0d 0e0f  ................\n00000010: 61                                       a\n", "[[92010203040506070809" + "0a0b0c0d0e0f61]]"},
		"two frames of xxd":                {"00000000: 00  .\n00000000: 9201  ..\n", "[[00 9201]]"},
		"hexdump -C":                       {"00000000  92 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f  |................|\n00000010  61  |a|\n00000011\n", "[[920102030405060708090a0b0c0d0e0f61]]"},
		"nothing":                          {"\n# nothing\n", "[]"},
		"a text column that looks like it": {"00000000: 6162 6364                                abcd\n", "[[61626364]]"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := wire.ReadHex(strings.NewReader(c.text))
			if s := fmt.Sprintf("%x", got); err != nil || s != c.want {
				t.Errorf("want %s, got %s, %v", c.want, s, err)
			}
		})
	}
}

func TestBadHexadecimalIsRefusedByLine(t *testing.T) {
	for text, want := range map[string]string{
		"00\n0g":                       `line 2: 'g' at column 2 is no hexadecimal digit`,
		"00\n\n123":                    `line 3: 3 hexadecimal digits, an odd number`,
		"b'\\x92":                      `line 1: bytes literal without its end`,
		`b'\q'`:                        `line 1: not a bytes literal`,
		"00000010: 00  .":              `line 1: offset 00000010 does not go on where the last line ended`,
		"00000000: 00  .\n00000009: 0": `line 2: 1 hexadecimal digits, an odd number`,
	} {
		_, err := wire.ReadHex(strings.NewReader(text))
		if _, ok := errors.AsType[*wire.SyntaxError](err); !ok || err.Error() != want {
			t.Errorf("%q: want %s, got %v", text, want, err)
		}
	}
}

func TestBadDocumentsAreRefusedByLineAndField(t *testing.T) {
	request := func(fields string) string { return `{"kind": "request", "message": {` + fields + `}}` }
	value := func(v string) string { return `{"kind": "value", "message": ` + v + `}` }
	for text, want := range map[string]string{
		"":                               "line 1: no JSON here",
		"{\n\"a\" 1}":                    "line 2: not JSON",
		`{"kind": "value", "message": [`: "line 1: the JSON ends in the middle",
		"[]":                             `line 1: an object with "kind" and "message" expected`,
		`{"message": []}`:                `unknown kind ""`,
		`{"kind": "value", "message": 1, "brief": true}`:                                                "printed with --brief",
		`{"kind": "value", "message": 1, "undecodable": {}}`:                                            "could not be read to its end",
		`{"kind": "value", "message": 1, "mesage": 1}`:                                                  `unknown key "mesage"`,
		`{"kind": "value", "message": 1, "type": "0"}`:                                                  "type: hexadecimal digits expected",
		`{"kind": "value", "message": {"a": 1, "a": 2}}`:                                                `key "a" twice`,
		request("\n\"request_id\": \"a\",\n\"prompt\": [1]"):                                            `line 3: no field of EngineCoreRequest is named "prompt"`,
		request(`"pooling_params": {"late_chunking": 1}`):                                               `pooling_params: no field of PoolingParams is named "late_chunking"`,
		request(`"eos_token_id": 2`):                                                                    `EngineCoreRequest of 0.32.0 has no "eos_token_id" (layouts that have it: 0.9.2, `,
		request(`"extra": 1`):                                                                           "extra: array expected",
		value(`{"bin": "0"}`):                                                                           "hexadecimal digits expected",
		value(`[{"ext": 128, "hex": ""}]`):                                                              `[0]: an extension is {"ext"`,
		value(`{"float": "nine"}`):                                                                      `a float in words`,
		value(`{"map": [[1]]}`):                                                                         "pair 0 of a map",
		value(`123456789012345678901`):                                                                  "does not fit 64 bits",
		value(`{"x": {"dtype": "float32", "shape": [1]}}`):                                              "x: a tensor has values or base64",
		value(`{"dtype": "float33", "shape": []}`):                                                      "a tensor has a known dtype",
		value(`{"dtype": "<i4", "shape": [2], "values": [1]}`):                                          "4 bytes of <i4 do not fill the shape",
		value(`{"dtype": "|i1", "shape": [1], "values": [128]}`):                                        "values[0]: does not fit |i1",
		value(`{"dtype": "|u1", "shape": [1], "values": [-1]}`):                                         "values[0]: does not fit |u1",
		value(`{"dtype": "<f4", "shape": [1], "values": ["1"]}`):                                        "values[0]: number expected",
		value(`{"dtype": "<c8", "shape": [1], "values": [1.0]}`):                                        "numbers cannot be given for <c8",
		value(`{"dtype": "<i4", "shape": [1], "values": [1], "frame": 0}`):                              "frame: must be 1 to 65536",
		value(`{"dtype": "<i4", "shape": [1], "values": [1], "frame": 2}`):                              "frame 1 of 2 has no data",
		`{"kind": "value", "message": 1, "frames": [{"frame": 1}]}`:                                     "frames: a frame is",
		`{"kind": "request", "release": "0.1", "message": {}}`:                                          "older than 0.9.2",
		`{"kind": "request", "release": "0.28.0", "message": {"kv_hints": {"a": [1]}}}`:                 `EngineCoreRequest of 0.28.0 has no "kv_hints"`,
		"{\"kind\": \"outputs\", \"message\": {\n\"outputs\": [{\"request_id\": [{}, {\"bin\": 1}]}]}}": "line 2: outputs[0].request_id[1]: hexadecimal",
	} {
		_, err := wire.Parse([]byte(text), wire.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nwant %s\n got %v", text, want, err)
		}
	}
}

func TestAMessageOfOneReleaseIsWrittenForAnother(t *testing.T) {
	text := `{"kind": "request", "release": "0.16.0", "message": {"request_id": "a", "prompt_token_ids": [1], "sampling_params": {"max_tokens": 4},
		"eos_token_id": null, "data_parallel_rank": 2}}`
	for _, release := range []string{"0.16.0", "0.17.0", "0.32.0"} {
		for _, fill := range []bool{false, true} {
			all, err := wire.Parse([]byte(text), wire.Options{Release: release, Fill: fill})
			check(t, err)
			l, err := codec.LayoutOf(release)
			check(t, err)
			r, err := l.DecodeRequest(all[0].Frames())
			check(t, err)
			if r.DataParallelRank == nil || *r.DataParallelRank != 2 || r.Sampling.MaxTokens != 4 {
				t.Errorf("%s: got %+v", release, r)
			}
			want := len(l.Fields(codec.StructRequest))
			if !fill {
				want = l.Required() // the last field that is named is the last that is required
			}
			list, err := codec.DecodeValue(all[0].Frames()[0])
			check(t, err)
			if got := len(list.([]any)); got != want {
				t.Errorf("%s, fill %t: want %d elements, got %d", release, fill, want, got)
			}
		}
	}
}

func TestTensorsGoWhereVLLMPutsThem(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("1, ", 64), ", ")
	all, err := wire.Parse([]byte(`{"kind": "value", "message": [
		{"dtype": "<i2", "shape": [64], "values": [`+many+`]}, {"dtype": "<i4", "shape": [64], "values": [`+many+`]},
		{"dtype": "<i4", "shape": [8, 8], "values": [`+many+`], "inline": true}, {"dtype": "<i8", "shape": [64], "values": [`+many+`]}]}`), wire.Options{})
	check(t, err)
	frames := all[0].Frames()
	if len(frames) != 3 || len(frames[1]) != 256 || len(frames[2]) != 512 {
		t.Errorf("got %d frames", len(frames))
	}
	comesBack(t, all[0], all[0].Append(nil, false), frames)
}
