// SPDX-License-Identifier: Apache-2.0

package engine

// Seed is what the tokens of a simulated request depend on: the FNV-1a hash of
// its id and the sum of its prompt. The C mock engine has the same formula, so
// that a client can check any token of either.
func Seed(id string, prompt []uint32) uint32 {
	h := uint32(2166136261)
	for i := range len(id) {
		h = (h ^ uint32(id[i])) * 16777619
	}
	for _, token := range prompt {
		h += token
	}
	return h
}

// Token is the i-th token, from 0, of a request with the given seed.
func Token(seed uint32, i int, vocab uint32) uint32 {
	return (seed + uint32(i)*2654435761) % vocab
}
