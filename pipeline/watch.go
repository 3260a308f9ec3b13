// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"time"
)

// watch asks after engines that have work and have gone silent, and after those
// that may have announced their end, by an abort of no ids: an engine ignores it,
// and a transport says when there is nobody to take it. An idle engine is left
// alone. It ends with ctx.
func (c *Client) watch(ctx context.Context) error {
	every := c.config.ProbeInterval
	if every < 0 {
		return nil
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			c.table.probe(now.Add(-every))
		case <-ctx.Done():
			return nil
		}
	}
}

// probe asks after engines that were not heard since the given time.
func (t *Table) probe(since time.Time) {
	for _, e := range t.engines {
		called := len(t.callsTo(e.rank)) > 0
		e.mu.Lock()
		busy := called || len(e.live) > 0
		ask := e.state == EngineReady && (e.suspect || busy && e.heardAt.Before(since))
		e.mu.Unlock()
		if ask {
			t.queue.put(&Abort{probe: e})
		}
	}
}

// inUse says whether the engine of rank is ready, and has it asked after, so that
// a later call knows better.
func (t *Table) inUse(rank int) bool {
	e := t.ranks[rank]
	if e == nil || !e.is(EngineReady) {
		return false
	}
	t.queue.put(&Abort{probe: e})
	return true
}
