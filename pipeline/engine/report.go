// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/corepipe/corepipe/codec"
)

// report is the scheduler's state after a step. The same memory every time.
func (s *Sim) report() *codec.SchedulerStats {
	t := &s.stats
	l := s.Load()
	t.NumRunning, t.NumWaiting, t.KVCacheUsage = l.Running, l.Waiting, l.KVUsage
	t.StepCounter++
	return t
}

// Load implements Loader.
func (s *Sim) Load() codec.Load {
	l := codec.Load{Running: s.batch, Waiting: len(s.waiting) - s.skipped}
	if s.KVTokens > 0 {
		l.KVUsage = float64(s.kvUsed) / float64(s.KVTokens)
	}
	return l
}

// DummyStep implements Dummy: a step without requests takes StepTime.
func (s *Sim) DummyStep() time.Duration { return s.StepTime }

// rare adds what only the first and the last output of a request have.
func (s *Sim) rare(r *run, row *codec.Output, first bool) {
	x := &r.first.extra
	*x = codec.Extra{}
	if first {
		r.first.prefill = codec.PrefillStats{
			NumPromptTokens: r.prompt, NumComputedTokens: r.prompt,
			NumCacheCreationTokens: r.prompt / DefaultBlockSize * DefaultBlockSize,
		}
		x.PrefillStats = &r.first.prefill
		if !s.NoStats {
			x.Events = r.first.events[:]
		}
		if r.pooling {
			x.Pooling = codec.Float32Tensor([]int{8}, []float32{0.5, -0.5, 0.25, -0.25, 1, -1, 0, 2})
		}
	}
	switch {
	case row.Finish == codec.FinishError && r.script != nil && r.script.Err != "":
		x.Error = &codec.RequestError{Code: "internal_error", Message: r.script.Err, Retryable: true}
	case row.Finish == codec.FinishStop && len(row.Tokens) > 0 && r.stopReason(row.Tokens[0]):
		x.StopReason = int64(row.Tokens[0])
	}
	row.SetExtra(x)
}

// stopReason says whether vLLM names the token as the reason of a stop: it does
// so for stop_token_ids, not for the end of the text.
func (r *run) stopReason(token uint32) bool {
	return (r.eos == nil || token != *r.eos) && slices.Contains(r.stops, token)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
