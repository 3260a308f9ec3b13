// SPDX-License-Identifier: Apache-2.0

package pipeline

import "github.com/corepipe/corepipe/codec"

// Info is what the engines say of themselves, merged as vLLM's front end does
// (vLLM: MPClient._apply_ready_response). What no engine says is zero or nil.
type Info struct {
	MaxModelLen                 int      // tokens; the smallest
	NumGPUBlocks                int      // the sum
	BlockSize                   int      // tokens; the last one's
	MambaBlockSize              *int     // the last one's
	KVCacheSizeTokens           *int     // the first one's
	KVCacheMaxConcurrency       *float64 // the first one's
	EffectiveAttentionBlockSize *int     // when all agree
	StatsAddress                string   // of the coordinator; the first one's
	KVEvents                    map[int]*codec.KVEvents
}

// Info merges the ready messages of the engines.
func (c *Client) Info() Info {
	i := Info{KVEvents: map[int]*codec.KVEvents{}}
	agreed, seen := true, false
	for _, e := range c.Engines() {
		r := e.Ready
		if r == nil {
			agreed = false
			continue
		}
		if i.MaxModelLen == 0 || r.MaxModelLen < i.MaxModelLen {
			i.MaxModelLen = r.MaxModelLen
		}
		i.NumGPUBlocks += r.NumGPUBlocks
		i.BlockSize = r.BlockSize
		if r.MambaBlockSize != nil {
			i.MambaBlockSize = r.MambaBlockSize
		}
		if i.KVCacheSizeTokens == nil {
			i.KVCacheSizeTokens = r.KVCacheSizeTokens
		}
		if i.KVCacheMaxConcurrency == nil {
			i.KVCacheMaxConcurrency = r.KVCacheMaxConcurrency
		}
		if i.StatsAddress == "" {
			i.StatsAddress = r.StatsAddress
		}
		if r.KVEvents != nil {
			i.KVEvents[r.DataParallelRank] = r.KVEvents
		}
		if seen && !equal(i.EffectiveAttentionBlockSize, r.EffectiveAttentionBlockSize) {
			agreed = false
		}
		i.EffectiveAttentionBlockSize, seen = r.EffectiveAttentionBlockSize, true
	}
	if !agreed {
		i.EffectiveAttentionBlockSize = nil
	}
	return i
}

func equal(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }
