// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"fmt"
	"os"

	"github.com/corepipe/corepipe/bench/wire"
)

// What an engine sent, as somebody captured it.
func ExampleDecode() {
	payload := "\x94\x01\x91\x96\xa3r-1\x92\x2a\xcd\x01\x00\xc0\xc0\xc0\x01\xc0\xcb\x40\xc8\x1c\xc0\x00\x00\x00\x00"
	m, err := wire.Decode([][]byte{[]byte(payload)}, wire.Options{Release: "0.28.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	os.Stdout.Write(m.Append(nil, false))
	for _, f := range m.Check() {
		fmt.Println(f)
	}
	// Output:
	// {
	//   "kind": "outputs",
	//   "release": "0.28.0",
	//   "message": {
	//     "engine_index": 1,
	//     "outputs": [
	//       {
	//         "request_id": "r-1",
	//         "new_token_ids": [42, 256],
	//         "new_logprobs": null,
	//         "new_prompt_logprobs_tensors": null,
	//         "pooling_output": null,
	//         "finish_reason": 1
	//       }
	//     ],
	//     "scheduler_stats": null,
	//     "timestamp": 12345.5
	//   }
	// }
}

// A message by hand, and what an engine would think of it.
func ExampleParse() {
	all, err := wire.Parse([]byte(`{"kind": "request", "release": "0.32.0", "type": "00", "message": {
		"request_id": "r-1", "prompt_token_ids": [1, 2, 3], "sampling_params": {"temperature": 3.0}, "data_parallel_rank": null}}`), wire.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", wire.AppendHex(nil, all[0].Frames()))
	for _, f := range all[0].Check() {
		fmt.Println(f)
	}
	// Output:
	// 00
	// 99a3722d3193010203c081ab74656d7065726174757265cb4008000000000000c000c0c0c0
	// wire: request: temperature: must be in [0, 2], is 3
}
