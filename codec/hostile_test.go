// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// readers are all decoders of single payloads.
var readers = map[string]func(*codec.Layout, []byte) error{
	"outputs": func(l *codec.Layout, b []byte) error {
		o, err := l.DecodeOutputs([][]byte{b})
		if err == nil {
			touch(o)
		}
		return err
	},
	"request":          func(l *codec.Layout, b []byte) error { _, err := l.DecodeRequest([][]byte{b}); return err },
	"abort":            func(_ *codec.Layout, b []byte) error { _, err := codec.DecodeAbort(b); return err },
	"utility":          func(_ *codec.Layout, b []byte) error { _, err := codec.DecodeUtility(b); return err },
	"start wave":       func(_ *codec.Layout, b []byte) error { _, _, err := codec.DecodeStartWave(b); return err },
	"handshake":        func(_ *codec.Layout, b []byte) error { _, err := codec.DecodeHandshake(b); return err },
	"init":             func(_ *codec.Layout, b []byte) error { _, err := codec.DecodeInit(b); return err },
	"ready":            func(_ *codec.Layout, b []byte) error { _, err := codec.DecodeReady(b); return err },
	"counts":           func(_ *codec.Layout, b []byte) error { _, err := codec.DecodeCounts(b); return err },
	"coordinator call": func(_ *codec.Layout, b []byte) error { _, err := codec.DecodeCoordinatorCall(b); return err },
	"value":            func(_ *codec.Layout, b []byte) error { _, err := codec.DecodeValue(b); return err },
}

// touch decodes what is decoded on demand; errors there are fine, panics not.
func touch(o *codec.Outputs) {
	o.Load()
	_, _ = o.Stats()
	for i := range o.Rows {
		_, _ = o.Rows[i].Extra()
	}
	if o.Utility != nil {
		v, _ := o.Utility.Result()
		_, _ = o.Utility.Tensor(v)
	}
}

func TestEveryPrefixOfEveryMessageIsAnError(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	for _, f := range fixtures(t, "request", "output", "skew", "ready", "handshake", "coordinator") {
		if len(f.payload) < 2 || f.Kind == "output.engine_dead" || f.Kind == "coordinator.ready" {
			continue
		}
		// Long frames are cut at every byte of both ends.
		for n := 1; n < len(f.payload); n++ {
			if n > 2000 && n < len(f.payload)-2000 || raceEnabled && n%11 != 0 {
				continue
			}
			for name, read := range readers {
				if len(f.payload) > 4000 && name != "outputs" && name != "request" {
					continue
				}
				if err := read(l, f.payload[:n:n]); err == nil {
					t.Fatalf("%s: %d of %d bytes are read as %s", f.Name, n, len(f.payload), name)
				}
			}
		}
	}
}

func TestTrailingBytesAreRefused(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	for name, read := range readers {
		for kind, b := range map[string]string{"outputs": "\x90", "abort": "\x90", "start wave": "\x92\x01\xc0", "value": "\x01", "counts": "\x93\xc0\x01\xc2"} {
			if kind != name {
				continue
			}
			check(t, read(l, []byte(b)))
			if read(l, []byte(b+"\xc0")) == nil {
				t.Errorf("%s: trailing bytes are accepted", name)
			}
		}
	}
}

// heap is what one call allocates.
func heap(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestP11AnnouncedLengthsAreNotTrusted(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	for _, claim := range []string{"\xdd\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff", "\xc6\xff\xff\xff\xff", "\xdb\xff\xff\xff\xff", "\xc9\xff\xff\xff\xff\x03"} {
		for place, b := range map[string][]byte{
			"alone": []byte(claim), "as rows": arr([]byte{0}, []byte(claim)),
			"as tokens": arr([]byte{0}, arr(arr(str("r"), []byte(claim)))), "as a tensor": envelope(row("r", 4, arr(str("uint8"), []byte{0x91, 1}, []byte(claim)))),
		} {
			for name, read := range readers {
				used := heap(func() {
					if read(l, b) == nil {
						t.Errorf("% x %s: read as %s", claim, place, name)
					}
				})
				if used > 1<<20 {
					t.Errorf("% x %s: %s takes %d bytes", claim, place, name, used)
				}
			}
		}
	}
}

func TestP12DeepNestingIsAnError(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	deep := append(bytes.Repeat([]byte{0x91}, 10<<20), 0xc0)
	maps := append(bytes.Repeat([]byte{0x81, 0xa0}, 1<<20), 0xc0)
	for _, b := range [][]byte{deep, maps, arr([]byte{0}, arr(row("r", 8, deep)))} {
		for name, read := range readers {
			if used := heap(func() {
				if read(l, b) == nil {
					t.Errorf("deep nesting is read as %s", name)
				}
			}); used > 1<<20 {
				t.Errorf("%s takes %d bytes", name, used)
			}
		}
	}
}

func TestMemoryIsASmallMultipleOfTheInput(t *testing.T) {
	const n = 1 << 20
	big := func(head []byte, body string) []byte {
		return append(append(head, 0xdd, 0, byte(n/len(body)>>16), byte(n/len(body)>>8), byte(n/len(body))), bytes.Repeat([]byte(body), n/len(body))...)
	}
	l := layout(t, codec.DefaultRelease)
	for what, b := range map[string][]byte{
		"rows of nil":       big([]byte{0x92, 0}, "\xc0"),
		"empty rows":        big([]byte{0x92, 0}, "\x90"),
		"rows without id":   big([]byte{0x92, 0}, "\x92\xa0\x90"),
		"smallest rows":     big([]byte{0x92, 0}, "\x92\xa1r\x90"),
		"finished ids":      big([]byte{0x96, 0, 0x90, 0xc0, 0, 0xc0}, "\xa0"),
		"values":            big(nil, "\xc0"),
		"empty maps":        big(nil, "\x80"),
		"empty byte arrays": big(nil, "\xc4\x00"),
		"lists in lists":    claims(n),
	} {
		for name, read := range readers {
			if used := heap(func() { _ = read(l, b) }); used > 80*n {
				t.Errorf("%s as %s: %d bytes for each of the input", what, name, used/n)
			}
		}
	}
}

// claims is lists in lists, each of which announces all bytes that are left.
func claims(n int) []byte {
	b := bytes.Repeat([]byte{0xc0}, n)
	for i := range 60 {
		left := n - 5*(i+1)
		copy(b[5*i:], []byte{0xdd, 0, byte(left >> 16), byte(left >> 8), byte(left)})
	}
	return b
}

func TestDecodeErrorsAreShort(t *testing.T) {
	p := arr([]byte{0}, arr(arr(str("r"), bytes.Repeat([]byte{0xc1}, 1<<16))))
	_, err := decode(t, p)
	if err == nil || len(fmt.Sprint(err)) > 200 {
		t.Errorf("got %v", err)
	}
}

func TestTheFirstReasonStays(t *testing.T) {
	p, err := codec.AppendValue(nil, []any{"r", []any{1}, nil, map[string]any{"logit_bias": map[string]any{"5": 1.5}}, nil, 0, nil, nil, nil})
	check(t, err)
	_, err = layout(t, codec.DefaultRelease).DecodeRequest([][]byte{p})
	if d, ok := errors.AsType[*codec.DecodeError](err); !ok || d.Reason != "integer expected" {
		t.Errorf("a key that is no integer: got %v", err)
	}
}
