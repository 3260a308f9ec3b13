// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import "testing"

// COREPIPE_FLOOR is the path of a raw_bench, which does with libzmq and nothing else
// what a client must do at least.
func TestAllClientsAreMeasuredAgainstTheMockEngine(t *testing.T) {
	measured(t, []string{"floor", "streams", "raw", "memory"}, "--transport", "ipc,tcp")
}

// COREPIPE_VLLM_BENCH is the path of the bench.py that drives vLLM's own client.
func TestTheClientOfVLLMIsMeasured(t *testing.T) {
	measured(t, []string{"floor", "vllm"}, "--workload", "short", "--engines", "2",
		"--vllm", given(t, "COREPIPE_VLLM"), "--vllm-bench", given(t, "COREPIPE_VLLM_BENCH"))
}

// measured compares clients quickly and checks what must hold on any machine.
func measured(t *testing.T, clients []string, more ...string) {
	t.Helper()
	mock, floor := given(t, "COREPIPE_MOCK"), given(t, "COREPIPE_FLOOR")
	temp := shortTemp(t)
	args := []string{"compare", "--mock", mock, "--floor", floor, "--quick", "--rounds", "1", "--json", "-"}
	for _, c := range clients {
		args = append(args, "--client", c)
	}
	for _, b := range execute(t, withZMQ(t), append(args, more...)...).comparedClients(t).Blocks {
		if len(b.Clients) != len(clients) {
			t.Fatalf("got %+v", b)
		}
		for i, c := range b.Clients {
			if c.Name != clients[i] || c.Median["cpu_us_per_request"].(float64) <= 0 {
				t.Errorf("client %d of %s: got %+v", i, clients[i], c)
			}
			// So many can be live, and an engine tells of all of its own at once.
			if m := c.Median["tokens_per_message"].(float64); m > float64(b.Concurrency) {
				t.Errorf("%s: %v tokens a message", c.Name, m)
			}
			// A request takes as many steps as it has tokens.
			if e := c.Median["e2e_ms"].(map[string]any)["p50"].(float64); e < float64(b.OutputTokens*b.StepTime)/1000*0.99 {
				t.Errorf("%s: %v ms from end to end, for %d steps of %d µs", c.Name, e, b.OutputTokens, b.StepTime)
			}
			if other := c.Name != "floor"; other != (c.ToFloor != nil) || other && c.Name != "memory" != (c.ToFloor.CPU != nil) {
				t.Errorf("%s, to the floor: %+v", c.Name, c.ToFloor)
			}
		}
	}
	empty(t, temp)
}
