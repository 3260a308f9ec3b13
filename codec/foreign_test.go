// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// foreign are the values of Python that are not read, and what the error says.
var foreign = map[string]struct {
	data []byte
	says string
}{
	"pickle":      {[]byte{0xc7, 5, 1, 'p', 'i', 'c', 'k', 'l'}, "a pickle, extension 1"},
	"cloudpickle": {[]byte{0xd4, 2, 'c'}, "a cloudpickle, extension 2"},
	"another":     {[]byte{0xd5, 9, 'x', 'y'}, "unknown extension"},
	"torch_shm": {append([]byte{0x83}, concat(str("sender_id"), str("s"), str("message_id"), []byte{1}, str("tensor_id"), []byte{0})...),
		"torch_shm"},
}

func concat(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// tensorOf is a tensor with such data.
func tensorOf(data []byte) []byte { return arr(str("uint8"), []byte{0x91, 5}, data) }

func refusedAs(t *testing.T, where, says string, err error) {
	t.Helper()
	var typed *codec.DecodeError
	if !errors.As(err, &typed) || !strings.Contains(typed.Reason, says) || typed.Field == "" && typed.Message != "utility result" && typed.Message != "value" {
		t.Errorf("%s: want an error about %s and its field, got %v", where, says, err)
	}
}

func TestForeignTensorsSpoilTheirRowAlone(t *testing.T) {
	matrix := arr(str("<i8"), []byte{0x92, 1, 1}, []byte{0xd7, 3, 0, 0, 0, 0, 0, 0, 0, 0})
	for name, f := range foreign {
		bad := tensorOf(f.data)
		for where, r := range map[string][]byte{
			"new_logprobs":                row("bad", 2, arr(matrix, bad, bad, []byte{0xc0})),
			"new_prompt_logprobs_tensors": row("bad", 3, arr(bad, matrix, matrix, []byte{0xc0}, []byte{0xc0})),
			"pooling_output":              row("bad", 4, bad),
			"routed_experts":              row("bad", 12, bad),
			"new_sampling_mask":           row("bad", 15, arr(bad, []byte{0xc0}, []byte{0xc0})),
			"prompt_token_id_logprobs":    row("bad", 17, bad),
		} {
			o, err := decode(t, envelope(row("good", 0, nil), r, row("good", 0, nil)))
			check(t, err)
			_, err = o.Rows[1].Extra()
			refusedAs(t, name+" in "+where, f.says, err)
			if typed, ok := errors.AsType[*codec.DecodeError](err); ok && (typed.Field != where || typed.Row != 1) {
				t.Errorf("%s: the error is about %s of row %d", where, typed.Field, typed.Row)
			}
			for _, i := range []int{0, 2} {
				if _, err := o.Rows[i].Extra(); err != nil || o.Rows[i].Err != nil || string(o.Rows[i].ID) != "good" || len(o.Rows[i].Tokens) != 1 {
					t.Errorf("%s: row %d is spoilt: %+v", where, i, o.Rows[i])
				}
			}
		}
	}
}

func TestForeignValuesInUtilityResultsAreRefused(t *testing.T) {
	for name, f := range foreign {
		utility := arr([]byte{7}, []byte{0xc0}, arr([]byte{0xc0}, arr(tensorOf(f.data))))
		o, err := decode(t, arr([]byte{0}, []byte{0x90}, []byte{0xc0}, []byte{1}, utility))
		check(t, err)
		v, err := o.Utility.Result()
		if name != "torch_shm" { // as a value it is a map
			refusedAs(t, name, f.says, err)
			continue
		}
		check(t, err)
		_, err = o.Utility.Tensor(v.([]any)[0])
		refusedAs(t, name, f.says, err)
	}
}

func TestForeignTensorsInRequestsAreRefused(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	request := func(at int, field []byte) []byte {
		fields := append([][]byte{str("r"), {0x91, 1}}, nils(8)...)
		fields[5] = []byte{0}
		fields[at] = field
		return arr(fields...)
	}
	for name, f := range foreign {
		bad := tensorOf(f.data)
		position := concat([]byte{0x83}, str("offset"), []byte{0}, str("length"), []byte{1}, str("is_embed"))
		item := func(data []byte) []byte {
			return concat([]byte{0x82}, str("data"), data, str("field"), arr(str("batched"), concat([]byte{0x81}, str("keep_on_cpu"), []byte{0xc2})))
		}
		feature := func(data, embed []byte) []byte {
			return arr(concat([]byte{0x84}, str("data"), data, str("modality"), str("image"), str("identifier"), str("i"),
				str("mm_position"), position, embed))
		}
		for where, b := range map[string][]byte{
			"prompt_embeds":            request(9, bad),
			"prompt_logprob_token_ids": request(3, concat([]byte{0x81}, str("prompt_logprob_token_ids"), bad)),
			"mm_features, an item":     request(2, feature(concat([]byte{0x81}, str("pixels"), item(bad)), []byte{0xc0})),
			"mm_features, nested":      request(2, feature(concat([]byte{0x81}, str("pixels"), item(arr(bad, bad))), []byte{0xc0})),
			"mm_features, is_embed":    request(2, feature([]byte{0xc0}, bad)),
			"extra_args":               request(3, concat([]byte{0x81}, str("extra_args"), []byte{0x81}, str("k"), f.data)),
		} {
			r, err := l.DecodeRequest([][]byte{b})
			if where == "extra_args" && name == "torch_shm" { // a map like any other
				check(t, err)
				continue
			}
			if refusedAs(t, name+" in "+where, f.says, err); r != nil {
				t.Errorf("%s in %s: got %+v", name, where, r)
			}
		}
	}
}
