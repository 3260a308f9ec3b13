// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/corepipe/corepipe/bench/load"
)

// figures are those of one run.
type figures struct {
	RequestsPerSecond float64 `json:"requests_per_s"`
	TokensPerSecond   float64 `json:"output_tokens_per_s"`
	TokensPerMessage  float64 `json:"tokens_per_message"`
	CPURequest        float64 `json:"cpu_us_per_request"` // µs
	CPUToken          float64 `json:"cpu_us_per_token"`   // µs
	TTFT              latency `json:"ttft_ms"`
	E2E               latency `json:"e2e_ms"`
}

// latency is in milliseconds.
type latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// check refuses figures of a run in which nothing was measured.
func (f figures) check() (figures, error) {
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"requests a second", f.RequestsPerSecond}, {"tokens a second", f.TokensPerSecond},
		{"tokens a message", f.TokensPerMessage}, {"CPU time", f.CPURequest}, {"CPU time", f.CPUToken},
		{"time to first token", f.TTFT.P50}, {"time to first token", f.TTFT.P99},
		{"end to end", f.E2E.P50}, {"end to end", f.E2E.P99},
	} {
		if v.value <= 0 {
			return figures{}, fmt.Errorf("the result has no %s", v.name)
		}
	}
	return f, nil
}

// decodeOnly reads one JSON object and nothing else.
func decodeOnly[T any](b []byte) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err = d.Decode(&v); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than a result")
		}
	}
	if err != nil {
		return v, fmt.Errorf("no result: %w in %q", err, b[:min(len(b), 400)])
	}
	return v, nil
}

// ourFigures reads the result of bench run.
func ourFigures(b []byte, s setting, scope string) (figures, error) {
	r, err := decodeOnly[load.Result](b)
	if err != nil {
		return figures{}, err
	}
	got := setting{workload{r.Requests, r.Concurrency, r.PromptTokens, r.MaxTokens}, len(r.Engines), r.Transport, s.StepTime}
	switch {
	case got != s || r.CPUScope != scope:
		return figures{}, fmt.Errorf("the result is of something else: %s, CPU of the %s", got, r.CPUScope)
	case r.Done != s.Requests || r.Interrupted || r.OutputTokens != int64(s.tokens()):
		return figures{}, fmt.Errorf("%d of %d requests are done, with %d tokens", r.Done, s.Requests, r.OutputTokens)
	}
	return figures{
		r.RequestsPerSecond, r.TokensPerSecond, r.TokensPerMessage, r.CPU, r.CPU / float64(s.OutputTokens),
		latency{r.TTFT.P50, r.TTFT.P99}, latency{r.E2E.P50, r.E2E.P99},
	}.check()
}
