// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"errors"
	"fmt"

	"github.com/corepipe/corepipe/codec"
)

func ExampleLayout_AppendRequest() {
	l, err := codec.LayoutOf("0.32.0")
	if err != nil {
		panic(err)
	}
	r := &codec.Request{
		ID:       "r1",
		Prompt:   []uint32{1, 15043, 3186},
		Sampling: &codec.SamplingParams{Temperature: new(0.7), MaxTokens: 32},
	}
	if err := r.Validate(); err != nil {
		panic(err)
	}
	payload, aux, err := l.AppendRequest(nil, nil, r)
	fmt.Println(len(payload), len(aux), err)
	// Output: 77 0 <nil>
}

func ExampleRequest_Validate() {
	r := &codec.Request{ID: "r1", Prompt: []uint32{1}, Sampling: &codec.SamplingParams{Temperature: new(3.0)}}
	err := r.Validate()
	var field *codec.FieldError
	fmt.Println(errors.As(err, &field), field.Field)
	fmt.Println(err)
	// Output:
	// true temperature
	// codec: request r1: temperature: must be in [0, 2], is 3
}

func ExampleLayout_DecodeOutputs() {
	l, err := codec.LayoutOf(codec.DefaultRelease)
	if err != nil {
		panic(err)
	}
	payload, _, err := l.AppendOutputs(nil, nil, &codec.Outputs{Rows: []codec.Output{
		{ID: []byte("r1"), Tokens: []uint32{42}},
		{ID: []byte("r2"), Tokens: []uint32{7, 8}, Finish: codec.FinishLength},
	}})
	if err != nil {
		panic(err)
	}
	o, err := l.DecodeOutputs([][]byte{payload})
	if err != nil {
		panic(err)
	}
	for _, row := range o.Rows {
		fmt.Printf("%s %v %v\n", row.ID, row.Tokens, row.Finish)
	}
	// Output:
	// r1 [42] none
	// r2 [7 8] length
}

func ExampleAppendUtility() {
	b, err := codec.AppendUtility(nil, &codec.UtilityCall{CallID: codec.CallID{N: 1}, Method: "sleep", Args: []any{1, "abort"}})
	fmt.Printf("%x %v\n", b, err)
	// Output: 940001a5736c6565709201a561626f7274 <nil>
}

func ExampleLayoutOf() {
	for _, release := range []string{"0.32.1rc1", "0.19.1", "0.8.0"} {
		l, err := codec.LayoutOf(release)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(release, "is laid out as", l.Since())
	}
	// Output:
	// 0.32.1rc1 is laid out as 0.32.0
	// 0.19.1 is laid out as 0.19.0
	// codec: vllm release 0.8.0: older than 0.9.2
}
