// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"math/bits"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// blockSize is how many tokens a block of the KV cache holds (vLLM: block_size).
const blockSize = 16

// text is the tokens of a request and what the KV cache knows them by.
type text struct {
	tokens []uint32 // prompt and answer
	chain  []name   // of each full block
}

// name stands for what is in a block and all before it.
type name int32

const (
	nameless name = 0  // a block that is not full
	single   name = -1 // full, and in one request of the trace only, so that nobody looks for it
)

// textsOf are those of a trace, and how many names there are.
func textsOf(t Trace) (texts []text, names int) {
	known, chains := map[uint64]name{}, make([][]uint64, len(t))
	texts = make([]text, len(t))
	for i := range t {
		tokens := tokensOf(&t[i], i)
		texts[i].tokens = tokens
		chains[i] = chain(tokens[:shareable(&t[i])])
		for _, h := range chains[i] {
			switch known[h] {
			case nameless:
				known[h] = single
			case single:
				names++
				known[h] = name(names)
			}
		}
	}
	for i := range texts {
		full := len(texts[i].tokens) / blockSize
		texts[i].chain = make([]name, 0, full)
		for _, h := range chains[i] {
			texts[i].chain = append(texts[i].chain, known[h])
		}
		for len(texts[i].chain) < full {
			texts[i].chain = append(texts[i].chain, single)
		}
	}
	return texts, names
}

// shareable is how many tokens another request may have too.
func shareable(q *Request) int {
	switch {
	case q.Tokens != nil:
		return q.Prompt
	case q.Session != "":
		return q.Prompt + q.Output
	}
	return q.PrefixTokens
}

// tokensOf are those of the i-th request of a trace, prompt and answer.
func tokensOf(q *Request, i int) []uint32 {
	own := "request " + strconv.Itoa(i)
	tokens := make([]uint32, 0, q.Prompt+q.Output)
	switch {
	case q.Tokens != nil:
		tokens = append(tokens, q.Tokens...)
		tokens = told(tokens, own, q.Output)
	case q.Session != "":
		tokens = told(tokens, "prefix "+q.Prefix, q.PrefixTokens)
		tokens = told(tokens, "session "+q.Session, q.Prompt+q.Output-q.PrefixTokens)
	default:
		tokens = told(tokens, "prefix "+q.Prefix, q.PrefixTokens)
		tokens = told(tokens, own, q.Prompt+q.Output-q.PrefixTokens)
	}
	return tokens
}

// told adds the first n tokens of the text of a title.
func told(tokens []uint32, title string, n int) []uint32 {
	at := xxhash.Sum64String(title)
	for range n {
		at += 0x9e3779b97f4a7c15
		tokens = append(tokens, uint32(mix(at)>>33))
	}
	return tokens
}

// chain is the hashes of the full blocks of tokens, each over all before it.
func chain(tokens []uint32) []uint64 {
	hashes := make([]uint64, 0, len(tokens)/blockSize)
	var h uint64
	for ; len(tokens) >= blockSize; tokens = tokens[blockSize:] {
		for _, t := range tokens[:blockSize] {
			h = (bits.RotateLeft64(h, 5) ^ uint64(t)) * 0x9e3779b97f4a7c15
		}
		h = mix(h)
		hashes = append(hashes, h)
	}
	return hashes
}

// mix spreads every bit of x over all bits (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
