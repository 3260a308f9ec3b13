// SPDX-License-Identifier: Apache-2.0

package replay

// cache is the KV cache of an engine in blocks. A block is free, in use by one or more
// requests, or idle: in nobody's use and still holding the tokens it is known by. Idle
// blocks are used again for such tokens, or for others, the longest unused first.
type cache struct {
	blocks []block
	free   []int32
	known  []int32 // by name: block + 1
	idle   int     // how many
	oldest int32   // idle one, -1 is none; they are a list
	newest int32
}

// block is one of a cache.
type block struct {
	name         name // of what it holds
	users        int32
	older, newer int32 // idle ones; -1 is none
}

func newCache(tokens, names int) cache {
	n := tokens / blockSize
	c := cache{blocks: make([]block, n), known: make([]int32, names+1), oldest: -1, newest: -1}
	for i := range n {
		c.free = append(c.free, int32(n-1-i))
	}
	return c
}

// room is how many blocks could be taken.
func (c *cache) room() int { return len(c.free) + c.idle }

// usage is the share of blocks in use (vLLM: kv_cache_usage).
func (c *cache) usage() float64 { return 1 - float64(c.room())/float64(len(c.blocks)) }

// take is a block for new tokens, false when there is none.
func (c *cache) take() (int32, bool) {
	if n := len(c.free); n > 0 {
		b := c.free[n-1]
		c.free = c.free[:n-1]
		c.blocks[b].users = 1
		return b, true
	}
	b := c.oldest
	if b < 0 {
		return 0, false
	}
	c.wake(b)
	if n := c.blocks[b].name; n > 0 {
		c.known[n] = 0
	}
	c.blocks[b] = block{users: 1}
	return b, true
}

// hit takes the block that holds what a name stands for, false when there is none.
func (c *cache) hit(n name) (int32, bool) {
	if n <= 0 || c.known[n] == 0 {
		return 0, false
	}
	b := c.known[n] - 1
	if c.blocks[b].users == 0 {
		c.wake(b)
	}
	c.blocks[b].users++
	return b, true
}

// fill says what b holds, now that it is full. If another block holds the same, that
// one is the one to hit.
func (c *cache) fill(b int32, n name) {
	switch {
	case c.blocks[b].name != nameless:
	case n < 0:
		c.blocks[b].name = n
	case c.known[n] == 0:
		c.blocks[b].name = n
		c.known[n] = b + 1
	}
}

// leave ends one use of b.
func (c *cache) leave(b int32) {
	at := &c.blocks[b]
	if at.users--; at.users > 0 {
		return
	}
	if at.name == nameless {
		c.free = append(c.free, b)
		return
	}
	at.older, at.newer = c.newest, -1
	if c.newest >= 0 {
		c.blocks[c.newest].newer = b
	} else {
		c.oldest = b
	}
	c.newest = b
	c.idle++
}

// wake takes b out of the idle ones.
func (c *cache) wake(b int32) {
	at := c.blocks[b]
	if at.older >= 0 {
		c.blocks[at.older].newer = at.newer
	} else {
		c.oldest = at.newer
	}
	if at.newer >= 0 {
		c.blocks[at.newer].older = at.older
	} else {
		c.newest = at.older
	}
	c.idle--
}
