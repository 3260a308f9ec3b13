// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/corepipe/corepipe/bench/load"
)

// scaled are the figures of one run.
type scaled struct {
	Cost              float64 `json:"cost"`               // in the curve's unit
	CPURequest        float64 `json:"cpu_us_per_request"` // µs
	RequestsPerSecond float64 `json:"requests_per_s"`
	TokensPerSecond   float64 `json:"output_tokens_per_s"`
	TokensPerMessage  float64 `json:"tokens_per_message"`
	Megabytes         float64 `json:"aux_mb_per_s"` // of tensors, 10^6 bytes
	Allocated         float64 `json:"allocated_bytes_per_request"`
	Memory            float64 `json:"memory_bytes"` // see load.Result
	OpenFiles         float64 `json:"open_files"`
}

// fields are all of them.
func (f *scaled) fields() []*float64 {
	return []*float64{
		&f.Cost, &f.CPURequest, &f.RequestsPerSecond, &f.TokensPerSecond, &f.TokensPerMessage,
		&f.Megabytes, &f.Allocated, &f.Memory, &f.OpenFiles,
	}
}

// run measures a point once, in a process of its own.
func (c *scaleCmd) run(ctx context.Context, p *point) (f scaled, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	return bounded(ctx, func(ctx context.Context, directory string) (f scaled, err error) {
		out, err := child{path: self, directory: directory, args: p.arguments(c)}.run(ctx)
		if err != nil {
			return f, err
		}
		return p.figures(out)
	})
}

// arguments are those of this command that measure the point.
func (p *point) arguments(c *scaleCmd) []string {
	return []string{
		"run", "--transport", c.Transport, "--engines", strconv.Itoa(p.Engines), "--step-time", c.StepTime.String(), "--max-batch", strconv.Itoa(p.MaxBatch),
		"--requests", strconv.Itoa(p.Requests), "--concurrency", strconv.Itoa(p.Concurrency), "--warmup", strconv.Itoa(p.warmup()),
		"--prompt-tokens", strconv.Itoa(p.PromptTokens), "--output-tokens", strconv.Itoa(p.OutputTokens), "--aux-bytes", strconv.Itoa(p.AuxBytes),
		"--no-itl", "--json", "-",
	}
}

// warmup is a wave of live requests, if that leaves enough: their first one makes what
// later ones use again.
func (p *point) warmup() int { return min(max(1000, p.Concurrency), p.Requests/2) }

// figures reads the result of bench run.
func (p *point) figures(b []byte) (f scaled, err error) {
	r, err := decodeOnly[load.Result](b)
	if err != nil {
		return f, err
	}
	switch {
	case r.Done != p.Requests || r.Interrupted || r.OutputTokens != int64(p.tokens()):
		return f, fmt.Errorf("%d of %d requests are done, with %d tokens", r.Done, p.Requests, r.OutputTokens)
	case r.Concurrency != p.Concurrency || r.PromptTokens != p.PromptTokens || r.AuxBytes != p.AuxBytes || len(r.Engines) != p.Engines:
		return f, errors.New("the result is of something else")
	case r.CPU <= 0 || r.Messages <= 0:
		return f, errors.New("the result has no CPU time or no messages")
	}
	return scaled{
		CPURequest: r.CPU, RequestsPerSecond: r.RequestsPerSecond, TokensPerSecond: r.TokensPerSecond, TokensPerMessage: r.TokensPerMessage,
		Megabytes: r.RequestsPerSecond * float64(p.AuxBytes) / 1e6, Allocated: r.Allocated, Memory: float64(r.Memory), OpenFiles: float64(r.OpenFiles),
	}, nil
}
