// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	random "math/rand/v2"
	"strconv"
	"strings"

	"github.com/corepipe/corepipe/codec"
)

// prompts are prepared ones, used in turn: many enough that no cache is warm
// for all of them, few enough that making them costs nothing.
const prompts = 64

// images are prepared too, and used in turn; they may be large.
const images = 4

// source makes requests. It is read-only, so all slots share it.
type source struct {
	prefix  string
	prompts [prompts][]uint32
	images  [images][]codec.MMFeature // nil where requests have none
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
	if c.AuxBytes > 0 {
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], c.Seed)
		bytes := random.NewChaCha8(seed)
		for i := range s.images {
			s.images[i] = image(c.AuxBytes, bytes)
		}
	}
	return s
}

// image is an input of so many random bytes: memory that was never written would be
// one page, read again and again.
func image(bytes int, from io.Reader) []codec.MMFeature {
	data := make([]byte, bytes)
	_, _ = io.ReadFull(from, data) // a generator does not end
	pixels := &codec.Tensor{DType: "uint8", Shape: []int{bytes}, Data: data}
	return []codec.MMFeature{{
		Data:     []codec.MMItem{{Key: "pixel_values", Value: pixels, Field: codec.MMField{Kind: "batched"}}},
		Modality: "image", Identifier: "image", Position: codec.MMPosition{Length: 1},
	}}
}

// request is the i-th. It is a new value each time, for the client has it until
// the stream ends and may look at it a moment longer.
func (s *source) request(i int) *codec.Request {
	return &codec.Request{
		ID:         s.prefix + strconv.Itoa(i),
		Prompt:     s.prompts[i%prompts],
		Sampling:   &s.sampling,
		MMFeatures: s.images[i%images],
	}
}

// randomText tells runs apart.
func randomText() string { return strings.ToLower(rand.Text()[:10]) }
