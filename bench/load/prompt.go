// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/rand"
	random "math/rand/v2"
	"strconv"
	"strings"

	"github.com/corepipe/corepipe/codec"
)

// prompts are prepared ones, used in turn: many enough that no cache is warm
// for all of them, few enough that making them costs nothing.
const prompts = 64

// source makes requests. It is read-only, so all slots share it.
type source struct {
	prefix  string
	prompts [prompts][]uint32
	// sampling is that of every request: a client does not change it.
	sampling codec.SamplingParams
}

func newSource(c Config) *source {
	s := &source{prefix: c.Prefix + "-", sampling: codec.SamplingParams{
		Temperature: new(0.0), IgnoreEOS: true, MaxTokens: c.OutputTokens, Detokenize: new(false),
	}}
	rng := random.New(random.NewPCG(c.Seed, prompts))
	for i := range s.prompts {
		s.prompts[i] = make([]uint32, c.PromptTokens)
		for k := range s.prompts[i] {
			s.prompts[i][k] = rng.Uint32N(uint32(c.Vocab))
		}
	}
	return s
}

// request is the i-th. It is a new value each time, for the client has it until
// the stream ends and may look at it a moment longer.
func (s *source) request(i int) *codec.Request {
	return &codec.Request{
		ID:       s.prefix + strconv.Itoa(i),
		Prompt:   s.prompts[i%prompts],
		Sampling: &s.sampling,
	}
}

// randomText tells runs apart.
func randomText() string { return strings.ToLower(rand.Text()[:10]) }
