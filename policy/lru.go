// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"math/bits"
	"time"

	"github.com/cespare/xxhash/v2"
)

// lru is a memory of fixed size: keys in sets of eight, in each of which the key
// that was used longest ago gives way to a new one. The zero value remembers
// nothing until reserve.
type lru struct{ cells []cell }

// cell is a key; its index in lru is where the user keeps the value.
type cell struct {
	key  uint64 // 0: free
	used time.Duration
}

const ways = 8

// reserve makes room for about n keys, once.
func (l *lru) reserve(n int) {
	if l.cells == nil {
		n = min(max(n, ways), 1<<28)
		l.cells = make([]cell, 1<<bits.Len(uint(n-1)))
	}
}

// set is where the set of a key begins.
func (l *lru) set(key uint64) int { return int(key) & (len(l.cells) - 1) &^ (ways - 1) }

// find is the index of a key that was used since then; -1 when there is none.
func (l *lru) find(key uint64, since time.Duration) int {
	if l.cells == nil {
		return -1
	}
	at := l.set(key)
	for i, c := range l.cells[at : at+ways] {
		if c.key == key && c.used >= since {
			return at + i
		}
	}
	return -1
}

// put notes the use of a key and says where it is, and whether it was there.
func (l *lru) put(key uint64, now time.Duration) (index int, found bool) {
	at := l.set(key)
	index = at
	for i, c := range l.cells[at : at+ways] {
		if c.key == key {
			index, found = at+i, true
			break
		}
		if c.key == 0 || l.cells[index].key != 0 && c.used < l.cells[index].used {
			index = at + i
		}
	}
	l.cells[index] = cell{key, now}
	return index, found
}

// clear forgets what is at an index.
func (l *lru) clear(index int) { l.cells[index] = cell{} }

// hash is never 0, which stands for a free cell.
func hash(s string) uint64 { return max(xxhash.Sum64String(s), 1) }

// joined is the hash of a sequence of hashes, one by one.
func joined(a, b uint64) uint64 { return max(mix(a^bits.RotateLeft64(b, 23)), 1) }
