// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// The numbers are those of the collection of public bug reports that these
// cases come from.

func TestP1NewerEngineAppendsFields(t *testing.T) {
	r := append([][]byte{str("r1"), {0x91, 7}}, nils(16)...)
	r[5], r[13] = []byte{1}, []byte{0}
	r = append(r, []byte{0xc0}, []byte{0x80}, []byte{0x90}, []byte{0xd4, 42, 0}, []byte{0x81, 0xa1, 'k', 0x91, 1}, []byte{0xc0}, []byte{0xc0})
	p := arr([]byte{3}, arr(arr(r...)), []byte{0xc0}, []byte{1}, []byte{0xc0}, []byte{0xc0}, []byte{0xc0}, []byte{0xc0}, []byte{0xc0}, []byte{0x80}, []byte{0xc7, 1, 42, 0}, []byte{0x90})
	o, err := decode(t, p)
	check(t, err)
	if o.Engine != 3 || len(o.Rows) != 1 || o.Rows[0].Err != nil || o.Rows[0].Tokens[0] != 7 || o.Rows[0].Finish != codec.FinishLength || !o.Rows[0].Plain() {
		t.Errorf("got %+v", o)
	}
}

func TestP2SenderCutsTheTail(t *testing.T) {
	o, err := decode(t, []byte{0x92, 1, 0x91, 0x92, 0xa2, 'r', '1', 0x91, 7})
	check(t, err)
	if o.Engine != 1 || len(o.Rows) != 1 || string(o.Rows[0].ID) != "r1" || o.Rows[0].Tokens[0] != 7 || o.Rows[0].Finish != codec.FinishNone {
		t.Errorf("got %+v", o)
	}
	o, err = decode(t, []byte{0x90})
	if err != nil || len(o.Rows) != 0 {
		t.Errorf("an empty envelope: got %+v, %v", o, err)
	}
}

func TestP3ReadyWithMoreOrFewerKeys(t *testing.T) {
	r, err := codec.DecodeReady(val(t, map[string]any{"max_model_len": 9, "x": nil, "y": []any{1}, "z": map[string]any{"a": 1}}))
	if err != nil || r.MaxModelLen != 9 || r.Version != "" {
		t.Errorf("got %+v, %v", r, err)
	}
	_, err = codec.DecodeReady(val(t, map[string]any{"num_gpu_blocks": 9}))
	var typed *codec.DecodeError
	if !errors.As(err, &typed) || typed.Field != "max_model_len" {
		t.Errorf("want an error that names max_model_len, got %v", err)
	}
}

func TestP4EmptyReadyPayloadIsAbsent(t *testing.T) {
	if r, err := codec.DecodeReady(nil); r != nil || err != nil {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestP5StatsAloneAreNoError(t *testing.T) {
	f := named(t, "out_stats_dp_lb")
	o, err := decode(t, f.payload)
	check(t, err)
	if _, ok := o.Load(); !ok || len(o.Rows) != 0 || o.Finished != nil {
		t.Errorf("got %+v", o)
	}
}

func TestP6StatsWithOtherKeys(t *testing.T) {
	stats := map[string]any{"num_running_reqs": 4, "kv_cache_usage": 1}
	for i := range 6 {
		stats[fmt.Sprint("unknown", i)] = []any{map[string]any{"deep": i}}
	}
	o, err := decode(t, arr([]byte{0}, []byte{0x90}, val(t, stats)))
	check(t, err)
	s, err := o.Stats()
	check(t, err)
	if load, ok := o.Load(); !ok || load != (codec.Load{Running: 4, KVUsage: 1}) || s.NumRunning != 4 || s.NumWaiting != 0 || s.SpecDecoding != nil {
		t.Errorf("got %+v, %+v", load, s)
	}
}

func TestP9EveryShortExtensionIsAnError(t *testing.T) {
	for _, b := range [][]byte{{0xd4}, {0xd5}, {0xd6}, {0xd7}, {0xd8}, {0xd6, 0xff}, {0xc7}, {0xc7, 5}, {0xc7, 12, 255, 0, 0}, {0xc8, 0}, {0xc9, 0, 0, 0}} {
		if v, err := codec.DecodeValue(b); err == nil {
			t.Errorf("% x: got %v", b, v)
		}
		if _, err := decode(t, envelope(row("r", 4, b))); err == nil {
			t.Errorf("% x in a row: no error", b)
		}
	}
}

func TestP10MapAsMapKeyIsAnError(t *testing.T) {
	for _, b := range [][]byte{{0x81, 0x80, 1}, {0x81, 0x90, 1}, {0x81, 0xc4, 1, 0, 1}} {
		if v, err := codec.DecodeValue(b); err == nil {
			t.Errorf("% x: got %v", b, v)
		}
	}
}

func TestP13IntegersOfAnyWidth(t *testing.T) {
	for text, want := range map[string]any{
		"\x07": int64(7), "\xcc\x07": int64(7), "\xcd\x00\xc8": int64(200), "\xcf\x00\x00\x00\x00\x00\x01\x11\x70": int64(70000),
		"\xff": int64(-1), "\xd3\xff\xff\xff\xff\xff\xff\xff\xff": int64(-1), "\xa1x": "x", "\xd9\x01x": "x",
	} {
		o, err := decode(t, envelope(row("r", 6, []byte(text))))
		check(t, err)
		x, err := o.Rows[0].Extra()
		if err != nil || x.StopReason != want || o.Rows[0].Plain() {
			t.Errorf("% x: want %v, got %v, %v", text, want, x.StopReason, err)
		}
	}
	o, err := decode(t, envelope(row("r", 6, []byte("\xcf\x80\x00\x00\x00\x00\x00\x00\x00")), row("s", 0, nil)))
	check(t, err)
	if _, err := o.Rows[0].Extra(); err == nil {
		t.Error("a stop reason of 2^63 is no error")
	}
	wide := arr(str("r"), []byte("\xdd\x00\x00\x00\x05\x01\xcc\x02\xcd\x00\x03\xce\x00\x00\x00\x04\xcf\x00\x00\x00\x00\x00\x00\x00\x05"))
	o, err = decode(t, envelope(wide))
	check(t, err)
	if got := fmt.Sprint(o.Rows[0].Tokens); got != "[1 2 3 4 5]" {
		t.Errorf("tokens of all widths: got %s, %v", got, o.Rows[0].Err)
	}
}

func TestP13NumbersOutOfRangeFailTheirRow(t *testing.T) {
	for _, tokens := range []string{"\x91\xff", "\x91\xcf\x00\x00\x00\x01\x00\x00\x00\x00", "\x91\xcb\x00\x00\x00\x00\x00\x00\x00\x00", "\x91\xc0", "\xc0", "\x91\xa1x", "\xc4\x01\x00"} {
		o, err := decode(t, envelope(arr(str("bad"), []byte(tokens)), row("good", 0, nil)))
		check(t, err)
		var typed *codec.DecodeError
		if !errors.As(o.Rows[0].Err, &typed) || typed.Row != 0 || string(o.Rows[0].ID) != "bad" || o.Rows[0].Tokens != nil {
			t.Errorf("% x: got %+v", tokens, o.Rows[0])
		}
		if o.Rows[1].Err != nil || o.Rows[1].Tokens[0] != 42 {
			t.Errorf("% x spoils its neighbour: %+v", tokens, o.Rows[1])
		}
	}
}

func TestP14LogprobsWithoutColumns(t *testing.T) {
	tuple := func(rows, columns int, data []byte) []byte {
		shape := []any{rows, columns}
		return arr(
			arr(str("<i4"), val(t, shape), data), arr(str("<f4"), val(t, shape), data),
			arr(str("<i4"), val(t, []any{rows}), append([]byte{0xc7, byte(4 * rows), 3}, make([]byte, 4*rows)...)), []byte{0xc0})
	}
	inline, aux := []byte{0xc7, 0, 3}, []byte{1}
	o, err := decode(t, envelope(row("a", 2, tuple(0, 0, inline)), row("b", 2, tuple(0, 0, aux)), row("c", 2, tuple(3, 0, inline))), []byte{})
	check(t, err)
	for i := range 2 {
		if x, err := o.Rows[i].Extra(); err != nil || len(x.Logprobs.TokenIDs.Data) != 0 || o.Rows[i].Tokens[0] != 42 {
			t.Errorf("no positions: got %+v, %v", x, err)
		}
	}
	if _, err := o.Rows[2].Extra(); err == nil {
		t.Error("positions without a column are no error")
	}
}

func TestP16WakeThatExcludesNobody(t *testing.T) {
	if b := codec.AppendStartWave(nil, 5, codec.Exclude{}); !bytes.Equal(b, []byte{0x92, 5, 0xc0}) {
		t.Errorf("got % x", b)
	}
	_, x, err := codec.DecodeStartWave([]byte{0x92, 5, 0xc4, 2, 1, 2})
	if err != nil || x != (codec.Exclude{Set: true, Rank: 0x201, Identity: true}) {
		t.Errorf("an identity: got %+v, %v", x, err)
	}
}

func TestP17TensorsMayBeginWithAnyByte(t *testing.T) {
	for _, first := range []byte{0xc0, 0xc1, 0x00, 0xff} {
		field := arr(str("uint8"), val(t, []any{2}), []byte{0xd5, 3, first, 9})
		o, err := decode(t, envelope(row("r", 4, field)))
		check(t, err)
		x, err := o.Rows[0].Extra()
		if err != nil || !bytes.Equal(x.Pooling.Data, []byte{first, 9}) {
			t.Errorf("%x: got %+v, %v", first, x.Pooling, err)
		}
	}
	o, err := decode(t, envelope(row("bad", 4, arr(str("uint8"), val(t, []any{1}), []byte{0xd4, 42, 9})), row("good", 0, nil)))
	check(t, err)
	if _, err := o.Rows[0].Extra(); err == nil || o.Rows[1].Err != nil {
		t.Errorf("an unknown extension: got %v, %v", err, o.Rows[1].Err)
	}
}

func TestP18StructsThatWouldVanishAreRefused(t *testing.T) {
	for name, v := range map[string]any{
		"unexported fields only": struct{ a int }{1}, "inside a list": []any{1, struct{ a int }{1}}, "behind a pointer": &struct{ a int }{1},
		"a function": func() {}, "a channel": make(chan int), "a complex number": 1i, "text that is not UTF-8": broken,
		"a tensor": &codec.Tensor{}, "a key that is not UTF-8": map[string]int{broken: 1}, "a struct as key": map[any]any{struct{ A int }{1}: 1},
	} {
		_, err := codec.AppendUtility(nil, &codec.UtilityCall{Method: "collective_rpc", Args: []any{"ok", v}})
		var typed *codec.FieldError
		if !errors.As(err, &typed) || typed.Field != "collective_rpc: args[1]" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := codec.AppendUtility(nil, &codec.UtilityCall{Method: "m", Args: []any{struct{ A int }{1}, uint64(math.MaxUint64)}}); err != nil {
		t.Errorf("a struct with exported fields: %v", err)
	}
}
