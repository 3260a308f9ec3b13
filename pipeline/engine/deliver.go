// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/corepipe/corepipe/codec"
)

// deliver sends a step's outputs, one message a client, without those of
// requests in gone. It lends o to the encode stage.
func (l *loop) deliver(ctx context.Context, o *codec.Outputs) error {
	if len(l.gone) > 0 {
		o.Rows = slices.DeleteFunc(o.Rows, func(row codec.Output) bool {
			_, ok := l.gone[string(row.ID)]
			return ok
		})
	}
	l.counters.Steps.Add(1)
	if l.clients > 1 {
		return l.split(ctx, o)
	}
	l.settle(o.Rows)
	l.addFinished(0, o)
	if empty(o) {
		return nil
	}
	l.lent = true
	return l.emit(ctx, result{outputs: o, encoded: l.encoded})
}

// settle forgets the requests that rows finish.
func (l *loop) settle(rows []codec.Output) {
	tokens, finished := 0, 0
	for i := range rows {
		tokens += len(rows[i].Tokens)
		if rows[i].Finish != codec.FinishNone {
			l.forget(string(rows[i].ID))
			finished++
		}
	}
	l.counters.Tokens.Add(uint64(tokens))
	if finished > 0 {
		l.counters.Finished.Add(uint64(finished))
	}
}

// split gives each client its rows. All else goes to one client alone, as in
// vLLM: the first that has rows, or the first of all.
func (l *loop) split(ctx context.Context, o *codec.Outputs) error {
	for i := range l.parts {
		l.parts[i] = codec.Outputs{Rows: l.parts[i].Rows[:0], WeightVersion: o.WeightVersion}
	}
	for _, row := range o.Rows {
		if client, ok := l.live[string(row.ID)]; ok {
			l.parts[client].Rows = append(l.parts[client].Rows, row)
		}
	}
	l.settle(o.Rows)
	first := max(0, slices.IndexFunc(l.parts, func(p codec.Outputs) bool { return len(p.Rows) > 0 }))
	rows := l.parts[first].Rows
	l.parts[first] = *o
	l.parts[first].Rows = rows
	for i := range l.parts {
		l.addFinished(i, &l.parts[i])
	}
	return l.emitParts(ctx)
}

// emitParts sends what is not empty. Encode works in order, so the last one that
// is back tells that all are.
func (l *loop) emitParts(ctx context.Context) error {
	last := len(l.parts) - 1
	for last >= 0 && empty(&l.parts[last]) {
		last--
	}
	for i := range last + 1 {
		if empty(&l.parts[i]) {
			continue
		}
		r := result{client: i, outputs: &l.parts[i]}
		if i == last {
			l.lent, r.encoded = true, l.encoded
		}
		if err := l.emit(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// empty says that o tells a client nothing.
func empty(o *codec.Outputs) bool {
	_, stats := o.Load()
	return len(o.Rows) == 0 && !stats && o.Utility == nil && len(o.Finished) == 0 &&
		o.WaveComplete == nil && o.StartWave == nil
}

// shutdown is the engine's end as on SIGTERM: what has come is still looked at,
// and everything unfinished is aborted, with an output.
func (l *loop) shutdown(ctx context.Context, in <-chan message) error {
	l.closing = true
	if err := l.release(ctx); err != nil {
		return err
	}
	if err := l.drain(ctx, in); err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(l.live))
	l.core.Abort(ids)
	mine := make([][]string, l.clients)
	for _, id := range ids {
		mine[l.live[id]] = append(mine[l.live[id]], id)
	}
	for client, ids := range mine {
		if len(ids) == 0 {
			continue
		}
		if err := l.finish(ctx, client, codec.FinishAbort, ids...); err != nil {
			return err
		}
	}
	return nil
}
