// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// foreignResult is what raw_bench and bench.py both say.
type foreignResult struct {
	Peer         string  `json:"peer"`
	Engines      int     `json:"engines"`
	Transport    string  `json:"transport"`
	StepTime     int64   `json:"step_us"`
	Requests     int     `json:"N"`
	Concurrency  int     `json:"C"`
	PromptTokens int     `json:"P"`
	OutputTokens int     `json:"T"`
	Wall         float64 `json:"wall_s"`
	ReqPerS      float64 `json:"req_s"`
	TokPerS      float64 `json:"tok_s"`
	CPU          float64 `json:"cpu_s"`
	User         float64 `json:"user_s"`
	System       float64 `json:"sys_s"`
	PerRequest   float64 `json:"us_cpu_per_req"`
	PerToken     float64 `json:"us_cpu_per_tok"`
	Messages     int     `json:"messages"`
	PerMessage   float64 `json:"tok_per_msg"`
	TTFTP50      float64 `json:"ttft_p50_ms"`
	TTFTP99      float64 `json:"ttft_p99_ms"`
	E2EP50       float64 `json:"e2e_p50_ms"`
	E2EP99       float64 `json:"e2e_p99_ms"`
	Load         float64 `json:"load"` // of the machine
}

// floorFigures reads the result of raw_bench.
func floorFigures(b []byte, s setting) (figures, error) {
	r, err := decodeOnly[struct {
		foreignResult
		EngineCPU float64 `json:"engine_cpu_s"`
	}](b)
	if err != nil {
		return figures{}, err
	}
	return r.figures(s)
}

// vllmFigures reads the result of bench.py.
func vllmFigures(b []byte, s setting) (figures, error) {
	r, err := decodeOnly[struct {
		foreignResult
		Managed        bool     `json:"managed"`
		Verified       bool     `json:"verified"`
		Loop           string   `json:"loop"`
		EngineCPU      float64  `json:"mock_cpu_s"`
		CoordinatorCPU *float64 `json:"coordinator_cpu_s"`
	}](b)
	if err != nil {
		return figures{}, err
	}
	return r.figures(s)
}

// figures are those of a result of s. CPU a request is computed from that a token,
// which has more digits.
func (r foreignResult) figures(s setting) (figures, error) {
	got := setting{workload{r.Requests, r.Concurrency, r.PromptTokens, r.OutputTokens}, r.Engines, r.Transport, r.StepTime}
	if got != s {
		return figures{}, fmt.Errorf("the result of %q is of something else: %s", r.Peer, got)
	}
	return figures{
		r.ReqPerS, r.TokPerS, r.PerMessage, r.PerToken * float64(s.OutputTokens), r.PerToken,
		latency{r.TTFTP50, r.TTFTP99}, latency{r.E2EP50, r.E2EP99},
	}.check()
}
