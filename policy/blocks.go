// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"math"
	"math/bits"
	"time"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// blocks remembers which engines have been sent which blocks of tokens, each
// together with all that stood before it. Memory is fixed but for the number of
// engines: a bit each for every block, in words of 64.
type blocks struct {
	known   lru
	words   int      // per cell
	holders []uint64 // words for each cell of known: by column
	columns []int32  // by rank: column + 1
	engines int      // columns so far

	active []uint64 // reused by match
	depth  []int32  // by column: how many blocks in a row it has, as of the last match
}

// mostBlocks is how many blocks of one prompt count.
const mostBlocks = 512

// appendChain adds the hashes of the prompt's full blocks, each over all before it.
func appendChain(chain []uint64, r *Request, size int) []uint64 {
	h := joined(hash(r.LoRA), hash(r.CacheSalt))
	for t := r.Tokens; len(t) >= size && len(chain) < mostBlocks; t = t[size:] {
		// The bytes stay in this process, so their order does not matter.
		h = joined(h, xxhash.Sum64(unsafe.Slice((*byte)(unsafe.Pointer(&t[0])), 4*size)))
		chain = append(chain, h)
	}
	return chain
}

// match finds how many blocks of chain each engine has, from the first one on, and
// the most that any has.
func (b *blocks) match(chain []uint64) (most int) {
	clear(b.depth)
	for i, h := range chain {
		k := b.known.find(h, math.MinInt64)
		if k < 0 {
			break
		}
		if !b.narrow(k*b.words, i) {
			return i
		}
		most = i + 1
	}
	if most > 0 {
		b.mark(b.active, most)
	}
	return most
}

// narrow leaves those of the active engines that hold block i too, which is at
// holders[at], and says whether there are any.
func (b *blocks) narrow(at, i int) (some bool) {
	for w := range b.active {
		had, has := b.active[w], b.holders[at+w]
		if i == 0 {
			had = has
		}
		for lost := had &^ has; lost != 0; lost &= lost - 1 {
			b.depth[w*64+bits.TrailingZeros64(lost)] = int32(i)
		}
		b.active[w] = had & has
		some = some || b.active[w] != 0
	}
	return some
}

// mark gives the engines of set their depth.
func (b *blocks) mark(set []uint64, depth int) {
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			b.depth[w*64+bits.TrailingZeros64(word)] = int32(depth)
		}
	}
}

// of is how many blocks of the last match the engine of a rank has.
func (b *blocks) of(rank int) int {
	if uint(rank) < uint(len(b.columns)) && b.columns[rank] > 0 {
		return int(b.depth[b.columns[rank]-1])
	}
	return 0
}

// hold notes that the engine of a rank has every block of chain.
func (b *blocks) hold(chain []uint64, rank int, now time.Duration) {
	c := b.column(rank)
	for _, h := range chain {
		k, found := b.known.put(h, now)
		set := b.holders[k*b.words : (k+1)*b.words]
		if !found {
			clear(set)
		}
		set[c/64] |= 1 << (c % 64)
	}
}

// column is where the bits of a rank are.
func (b *blocks) column(rank int) int {
	b.columns = grown(b.columns, rank)
	if b.columns[rank] == 0 {
		b.engines++
		b.columns[rank] = int32(b.engines)
		if b.engines > 64*b.words {
			b.widen()
		}
	}
	return int(b.columns[rank]) - 1
}

// widen makes room for twice as many engines, at least 64.
func (b *blocks) widen() {
	words := max(2*b.words, 1)
	holders := make([]uint64, words*len(b.known.cells))
	for k := range b.known.cells {
		copy(holders[k*words:], b.holders[k*b.words:(k+1)*b.words])
	}
	b.words, b.holders = words, holders
	b.active, b.depth = make([]uint64, words), make([]int32, 64*words)
}

// lose forgets what the engine of a rank has.
func (b *blocks) lose(rank int) {
	if uint(rank) >= uint(len(b.columns)) || b.columns[rank] == 0 {
		return
	}
	c := int(b.columns[rank]) - 1
	for k := range b.known.cells {
		b.holders[k*b.words+c/64] &^= 1 << (c % 64)
	}
}
