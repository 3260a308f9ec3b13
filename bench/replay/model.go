// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Model is what an engine of speed 1 is capable of. The zero value is about a model of
// 32 billion parameters in 8 bits on an accelerator with 80 GB.
type Model struct {
	// A step takes StepTime, plus PromptTokenTime for each token prefilled in it,
	// plus RunningTime for each request decoded. Defaults: 10 ms, 60 µs, 80 µs.
	StepTime, PromptTokenTime, RunningTime time.Duration
	// MaxBatch is how many requests run at a time (vLLM: max_num_seqs). Default 256.
	MaxBatch int
	// MaxBatchedTokens is how many tokens a step computes, those of decoded requests
	// included (vLLM: max_num_batched_tokens). Default 2048.
	MaxBatchedTokens int
	// KVTokens is the size of the KV cache in tokens. Default 131,072.
	KVTokens int
}

func (m Model) filled() Model {
	return Model{
		cmp.Or(m.StepTime, 10*time.Millisecond), cmp.Or(m.PromptTokenTime, 60*time.Microsecond), cmp.Or(m.RunningTime, 80*time.Microsecond),
		cmp.Or(m.MaxBatch, 256), cmp.Or(m.MaxBatchedTokens, 2048), cmp.Or(m.KVTokens, 128<<10),
	}
}

// check says what is wrong with a filled model.
func (m *Model) check() error {
	switch {
	case min(m.StepTime, m.PromptTokenTime, m.RunningTime) < 0:
		return errors.New("replay: Model: a time is negative")
	case m.MaxBatch < 1:
		return fmt.Errorf("replay: Model.MaxBatch: must be at least 1, is %d", m.MaxBatch)
	case m.MaxBatchedTokens < 1:
		return fmt.Errorf("replay: Model.MaxBatchedTokens: must be at least 1, is %d", m.MaxBatchedTokens)
	case m.KVTokens < blockSize || m.KVTokens > 1<<30:
		return fmt.Errorf("replay: Model.KVTokens: must be %d to %d, is %d", blockSize, 1<<30, m.KVTokens)
	}
	return nil
}

// fits says whether a request can ever be done.
func (m *Model) fits(tokens int) bool { return tokens/blockSize+1 <= m.KVTokens/blockSize }
