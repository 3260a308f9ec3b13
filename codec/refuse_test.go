// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"errors"
	"math"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

func TestEncodingRefusesWhatHasNoForm(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	for field, change := range map[string]func(*codec.Request){
		"extra_args":         sampling(func(s *codec.SamplingParams) { s.ExtraArgs = map[string]any{"f": func() {}} }),
		"kv_hints":           func(r *codec.Request) { r.KVHints = &codec.KVHints{Actions: []codec.KVAction{{Payload: endless()}}} },
		"structured_outputs": sampling(func(s *codec.SamplingParams) { s.StructuredOutputs = &codec.StructuredOutputs{JSON: 1i} }),
		"request_id":         func(r *codec.Request) { r.ID = broken },
	} {
		r := valid()
		change(r)
		b, aux, err := l.AppendRequest([]byte("kept"), nil, r)
		var typed *codec.FieldError
		if !errors.As(err, &typed) || typed.Message != "request" || typed.Field != field || typed.ID != r.ID {
			t.Errorf("%s: got %v", field, err)
		}
		if string(b) != "kept" || aux != nil {
			t.Errorf("%s: the buffers came back changed", field)
		}
	}
}

func TestCallsThatCannotBeWrittenAreRefused(t *testing.T) {
	for name, u := range map[string]codec.UtilityCall{
		"no method":                      {},
		"a method that is not UTF-8":     {Method: broken},
		"a negative client":              {Method: "m", ClientIndex: -1},
		"text that is not UTF-8":         {Method: "m", Args: []any{1, broken}},
		"text deep inside":               {Method: "m", Args: []any{1, []any{map[string]any{"a": []string{broken}}}}},
		"a key that is not UTF-8":        {Method: "m", Args: []any{map[string]any{broken: 1}}},
		"a key of a map with mixed keys": {Method: "m", Args: []any{map[any]any{1: 2, broken: 1}}},
		"a field of a struct":            {Method: "m", Args: []any{struct{ Text string }{broken}}},
		"text behind a pointer":          {Method: "m", Args: []any{new(broken)}},
		"a function":                     {Method: "m", Args: []any{func() {}}},
		"a value nested without end":     {Method: "m", Args: []any{endless()}},
		"a tensor":                       {Method: "m", Args: []any{codec.Tensor{}}},
	} {
		b, err := codec.AppendUtility([]byte("kept"), &u)
		var typed *codec.FieldError
		if !errors.As(err, &typed) || typed.Message != "utility" || string(b) != "kept" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOutputsThatCannotBeWrittenAreRefused(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	rare := func(x codec.Extra) codec.Outputs {
		o := codec.Outputs{Rows: []codec.Output{{ID: []byte("r")}}}
		o.Rows[0].SetExtra(&x)
		return o
	}
	for name, o := range map[string]codec.Outputs{
		"a row without id":                {Rows: []codec.Output{{}}},
		"a row that was not decoded":      {Rows: []codec.Output{{ID: []byte("r"), Err: errors.New("bad")}}},
		"an id that is not UTF-8":         {Rows: []codec.Output{{ID: []byte(broken)}}},
		"finished that is not UTF-8":      {Finished: []string{broken}},
		"a tensor that is not filled":     rare(codec.Extra{Pooling: &codec.Tensor{DType: "int8", Shape: []int{3}}}),
		"a stop reason of another kind":   rare(codec.Extra{StopReason: 1.5}),
		"an error that is not UTF-8":      rare(codec.Extra{StopReason: broken}),
		"logprobs of different shapes":    rare(codec.Extra{Logprobs: &codec.Logprobs{TokenIDs: codec.Int64Tensor([]int{1}, []int64{1})}}),
		"transfer parameters with a chan": rare(codec.Extra{KVTransferParams: map[string]any{"c": make(chan int)}}),
	} {
		_, _, err := l.AppendOutputs(nil, nil, &o)
		var typed *codec.FieldError
		if !errors.As(err, &typed) || typed.Message != "outputs" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestFieldsThatAReleaseLacks(t *testing.T) {
	old := layout(t, "0.16.0")
	r := valid()
	r.SessionID, r.KVHints, r.ExternalID = "s", &codec.KVHints{}, "e"
	if _, _, err := old.AppendRequest(nil, nil, r); err != nil {
		t.Errorf("fields that only inform are left out: got %v", err)
	}
	r.AbortImmediately = true
	_, _, err := old.AppendRequest(nil, nil, r)
	var typed *codec.FieldError
	if !errors.Is(err, codec.ErrUnsupported) || !errors.As(err, &typed) || typed.Field != "abort_immediately" {
		t.Errorf("a field that changes the answer: got %v", err)
	}
}

func TestNamesInMessages(t *testing.T) {
	for got, want := range map[string]string{
		codec.FinishReason(10).String(): "unknown(9)", codec.FinishNone.String(): "none", codec.FinishRepetition.String(): "repetition",
		codec.Kind(9).String(): "unknown(9)", codec.StartWave.String(): "start wave",
		codec.ElasticCall().String(): "-1", codec.FaultCall().String(): "-2", codec.CallID{N: math.MaxUint64}.String(): "18446744073709551615",
	} {
		if got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}
