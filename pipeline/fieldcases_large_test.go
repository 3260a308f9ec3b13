// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

func TestX3ARequestsTensorIsNotCopiedInMemory(t *testing.T) {
	tensorRequest(t, new(inproc.Network), fixedInput, fixedOutput, 0.1)
}

func TestX3AnAnswersTensorIsNotCopiedInMemory(t *testing.T) {
	tensorAnswer(t, new(inproc.Network), fixedInput, fixedOutput, 0.1)
}

// A tensor of 16 MiB: positions of a prompt, or of an answer.
const large, positions = 16 << 20, 1024

// tensorRequest sends requests with a tensor each and holds what both ends allocate
// for one, to a share of the tensor. What a transport allocates in C is not seen.
func tensorRequest(t *testing.T, net transport.Transport, input, output string, most float64) {
	p, c := alone(t, net, input, output)
	const half = 2 // bytes of a bfloat16
	data := bytes.Repeat([]byte{1, 2, 3, 4}, large/4)
	prompt := make([]uint32, positions)
	allocated(t, most, func(i int) {
		s := submit(t, c, &codec.Request{
			ID: fmt.Sprint("r", i), Prompt: prompt, Sampling: &codec.SamplingParams{MaxTokens: 1},
			PromptEmbeds: &codec.Tensor{DType: "bfloat16", Shape: []int{positions, large / positions / half}, Data: data},
		})
		r := p.next().request
		if r == nil || r.ID != s.ID() || !bytes.Equal(r.PromptEmbeds.Data, data) {
			t.Fatalf("the engine got another request than %s, or another tensor", s.ID())
		}
		p.rows(row(s.ID(), codec.FinishLength, 7))
		if _, _, err := read(s); err != nil {
			t.Fatal(err)
		}
	})
}

// tensorAnswer is tensorRequest the other way.
func tensorAnswer(t *testing.T, net transport.Transport, input, output string, most float64) {
	p, c := alone(t, net, input, output)
	data := bytes.Repeat([]byte{0, 0, 128, 63}, large/4) // ones
	allocated(t, most, func(i int) {
		s := submit(t, c, &codec.Request{ID: fmt.Sprint("r", i), Prompt: []uint32{1}, Pooling: &codec.PoolingParams{Task: codec.TaskEmbed}})
		p.next()
		last := row(s.ID(), codec.FinishStop)
		last.SetExtra(&codec.Extra{Pooling: &codec.Tensor{DType: "float32", Shape: []int{large / 4}, Data: data}})
		p.rows(last)
		o, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		x, err := o.Extra()
		if err != nil || !bytes.Equal(x.Pooling.Data, data) {
			t.Fatalf("got another tensor, %v", err)
		}
		if _, _, err := read(s); err != nil {
			t.Fatal(err)
		}
	})
}

// alone is a client of one peer, at addresses of any transport.
func alone(t *testing.T, net transport.Transport, input, output string) (*peer, *pipeline.Client) {
	t.Helper()
	p := dial(t, net, input, output, 0).ready(codec.Ready{MaxModelLen: 1 << 20, Version: codec.DefaultRelease})
	c, err := pipeline.Connect(t.Context(), pipeline.Config{Transport: net, Input: input, Output: output})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, c) })
	return p, c
}

// allocated runs op some times and holds what one allocates to a share of large.
func allocated(t *testing.T, most float64, op func(i int)) {
	t.Helper()
	const n = 8
	op(0) // makes what is kept
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		op(1 + i)
	}
	runtime.ReadMemStats(&after)
	got := float64(after.TotalAlloc-before.TotalAlloc) / n / large
	if got > most {
		t.Errorf("%.3f times the tensor is allocated, want at most %v", got, most)
	}
	t.Logf("%.4f times the tensor is allocated", got)
}
