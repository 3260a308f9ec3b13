// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// Register is the stage that takes engines' ready messages from the input
// connection: at the start, and when an engine was restarted.
func Register(t *Table) Sink[transport.Packet] {
	return func(ctx context.Context, in <-chan transport.Packet) error {
		return serve(ctx, in, false, func(p transport.Packet) error {
			t.register(p)
			return nil
		})
	}
}

// register takes what an engine has sent to the input address.
func (t *Table) register(p transport.Packet) {
	rank, ok := codec.RankOf(p.Peer)
	if !ok || t.ranks[rank] == nil || len(p.Frames) == 0 {
		t.counts.strangers.Add(1)
		return
	}
	r, err := codec.DecodeReady(p.Frames[0])
	if err == nil {
		err = t.Ready(rank, r)
	}
	if err == nil {
		return
	}
	t.reject(&EngineError{rank, "ready", err})
	if e := t.ranks[rank]; e.is(EngineReady) { // a restart: the old one is gone
		t.kill(e, e.now(), "ready", err)
	}
}

// reject notes an engine that cannot be taken in, for Connect to return.
func (t *Table) reject(err *EngineError) {
	t.malformed(err.Rank, err)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rejected == nil {
		t.rejected = err
	}
	t.notify()
}
