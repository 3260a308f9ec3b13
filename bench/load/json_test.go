// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/bench/load"
)

// The keys are a promise to those who keep results: add to them, change none.
func TestTheKeysOfAResultAreFixed(t *testing.T) {
	b, err := json.Marshal(&load.Result{
		Engines: []load.Engine{{}}, Errors: []load.ErrorCount{{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"aborted", "added_us", "added_us.p50", "added_us.p90", "added_us.p99", "allocated_bytes_per_request", "aux_bytes", "concurrency", "cpu_scope", "cpu_us_per_request", "done", "e2e_ms", "e2e_ms.p50", "e2e_ms.p90",
		"e2e_ms.p99", "engines", "engines.rank", "engines.requests", "engines.running", "engines.version",
		"engines.waiting", "errors", "errors.count", "errors.error", "errors.first", "failed", "interrupted",
		"itl_ms", "itl_ms.p50", "itl_ms.p90", "itl_ms.p99", "max_tokens", "memory_bytes", "messages", "open_files", "output_tokens",
		"output_tokens_per_s", "policy", "prompt_tokens", "received_us", "received_us.p50", "received_us.p90", "received_us.p99",
		"requests", "requests_per_s", "tokens_per_message",
		"transport", "ttft_ms", "ttft_ms.p50", "ttft_ms.p90", "ttft_ms.p99", "wall_s",
	}
	got := keys("", v)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got)", diff)
	}
}

func keys(prefix string, v any) (list []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			list = append(append(list, prefix+k), keys(prefix+k+".", inner)...)
		}
	case []any:
		for _, inner := range v {
			list = append(list, keys(prefix, inner)...)
		}
	}
	return list
}
