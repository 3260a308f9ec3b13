// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/corepipe/corepipe/codec"
)

// The modes: what a client does with the two messages that there are many of.
const (
	encoding = "encode"
	decoding = "decode"
)

// Of each size there are many messages, of which none comes twice in a row: a single
// one would teach the processor where its branches go. Large ones fill its caches
// without being many.
const (
	mostMessages = 64
	fewMessages  = 4
	tokensInThem = 1 << 20
)

func messages(size int) int { return min(max(tokensInThem/size, fewMessages), mostMessages) }

// vocabulary is as many models have it.
const vocabulary = 1 << 17

// mixed are token ids of all the lengths that msgpack has for them.
func mixed(r *rand.Rand, n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = r.Uint32N(vocabulary >> r.IntN(15))
	}
	return ids
}

func chatID(r *rand.Rand) string { return fmt.Sprintf("chatcmpl-%016x-%08x", r.Uint64(), r.Uint32()) }

// newRequest is a chat request of n prompt tokens.
func newRequest(r *rand.Rand, n int) *codec.Request {
	end := uint32(vocabulary - 1)
	return &codec.Request{
		ID: chatID(r), Prompt: mixed(r, n), ArrivalTime: 1.7e9 + r.Float64(),
		Sampling: &codec.SamplingParams{
			Temperature: new(r.Float64()), TopP: new(0.95), MaxTokens: 1 + r.IntN(512),
			StopTokenIDs: []uint32{end - 1, end}, EOSTokenID: new(end), AllStopTokenIDs: []uint32{end - 1, end},
		},
	}
}

// newStep is an engine's step of n requests, with the statistics that it has.
func newStep(r *rand.Rand, n int) *codec.Outputs {
	o := &codec.Outputs{Timestamp: 1e5 * r.Float64()}
	for range n {
		o.Rows = append(o.Rows, codec.Output{ID: []byte(chatID(r)), Tokens: mixed(r, 1)})
	}
	o.SetStats(&codec.SchedulerStats{NumRunning: n, KVCacheUsage: r.Float64(), StepCounter: r.IntN(1 << 20)})
	return o
}

// errChanged stops a measurement of what does not work.
var errChanged = errors.New("what was decoded is not what was encoded")

// encodes makes a trial of encoding requests.
func encodes(l *codec.Layout, n int) (*trial, error) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	in := make([]*codec.Request, messages(n))
	for i := range in {
		in[i] = newRequest(r, n)
		frame, aux, err := l.AppendRequest(nil, nil, in[i])
		if err != nil {
			return nil, err
		}
		back, err := l.DecodeRequest(append([][]byte{frame}, aux...))
		if err == nil && (back.ID != in[i].ID || !slices.Equal(back.Prompt, in[i].Prompt)) {
			err = errChanged
		}
		if err != nil {
			return nil, fmt.Errorf("a request of %d tokens: %w", n, err)
		}
	}
	var buffer []byte
	return newTrial(encoding, n, func(i int) (int, error) {
		frame, _, err := l.AppendRequest(buffer[:0], nil, in[i%len(in)])
		buffer = frame
		return len(frame), err
	}), nil
}

// decodes makes a trial of decoding steps.
func decodes(l *codec.Layout, n int) (*trial, error) {
	r := rand.New(rand.NewPCG(2, uint64(n)))
	in := make([][][]byte, messages(n))
	for i := range in {
		step := newStep(r, n)
		frame, aux, err := l.AppendOutputs(nil, nil, step)
		if err != nil {
			return nil, err
		}
		in[i] = append([][]byte{frame}, aux...)
		back, err := l.DecodeOutputs(in[i])
		if err == nil && !slices.EqualFunc(back.Rows, step.Rows, sameRow) {
			err = errChanged
		}
		if err != nil {
			return nil, fmt.Errorf("a step of %d rows: %w", n, err)
		}
	}
	var step codec.Outputs
	return newTrial(decoding, n, func(i int) (int, error) {
		frames := in[i%len(in)]
		step.Reset()
		return len(frames[0]), l.DecodeOutputsInto(&step, frames)
	}), nil
}

func sameRow(a, b codec.Output) bool {
	return a.Err == nil && string(a.ID) == string(b.ID) && slices.Equal(a.Tokens, b.Tokens)
}

// trials are what the flags ask for.
func (c *codecCmd) trials(l *codec.Layout) (all []*trial, err error) {
	for _, kind := range []struct {
		mode  string
		sizes []int
		make  func(l *codec.Layout, n int) (*trial, error)
	}{{encoding, c.PromptTokens, encodes}, {decoding, c.Rows, decodes}} {
		if !slices.Contains(c.Mode, kind.mode) {
			continue
		}
		for _, n := range kind.sizes {
			x, err := kind.make(l, n)
			if err != nil {
				return nil, fmt.Errorf("codec: %w", err)
			}
			all = append(all, x)
		}
	}
	return all, nil
}
