// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"time"

	"github.com/corepipe/corepipe/codec"
)

// report tells the coordinator what is new: the counts of requests if they have
// changed, as vLLM does before and after each step, and then of waves.
func (l *loop) report(ctx context.Context) error {
	if l.shares {
		load := codec.Load{Running: len(l.live)}
		if l.loader != nil {
			load = l.loader.Load()
		}
		if load.Running != l.told.Running || load.Waiting != l.told.Waiting {
			l.told = load
			o := new(codec.Outputs)
			o.SetStats(&codec.SchedulerStats{
				NumRunning: load.Running, NumWaiting: load.Waiting, KVCacheUsage: load.KVUsage,
				StepCounter: load.Step, CurrentWave: load.Wave,
			})
			if err := l.emit(ctx, result{client: toCoordinator, outputs: o}); err != nil {
				return err
			}
		}
	}
	if l.lockstep == nil {
		return nil
	}
	return l.tellWaves(ctx)
}

// tellWaves tells the coordinator, or without one the first client, which is then
// the only one (vLLM: offline).
func (l *loop) tellWaves(ctx context.Context) error {
	to := 0
	if l.coordinated {
		to = toCoordinator
	}
	for o := l.lockstep.News(); o != nil; o = l.lockstep.News() {
		if err := l.emit(ctx, result{client: to, outputs: o}); err != nil {
			return err
		}
	}
	return nil
}

// joined says that the step has begun in which the other ranks take part.
func (l *loop) joined() bool { return l.lockstep != nil && l.lockstep.Met() != nil }

// meet holds messages back until all ranks take the step, which then takes as long
// for each as for the slowest.
func (l *loop) meet(ctx context.Context, in <-chan message) error {
	if !l.joined() {
		return nil
	}
	if err := hold(ctx, l, in, l.lockstep.Met()); err != nil || l.stopped() {
		return err
	}
	took := l.lockstep.Took()
	l.paced, l.due = took > 0, time.Since(l.began)+took
	return nil
}

// forget ends the life of a request here.
func (l *loop) forget(id string) {
	if client, ok := l.live[id]; ok && l.shares {
		l.finished[client] = append(l.finished[client], id)
	}
	delete(l.live, id)
}

// addFinished adds what has ended to a message to a client.
func (l *loop) addFinished(client int, o *codec.Outputs) {
	if l.shares {
		o.Finished, l.finished[client] = l.finished[client], nil // it is read after this returns
	}
}

// flush tells clients what has ended when no step will.
func (l *loop) flush(ctx context.Context) error {
	for client, ids := range l.finished {
		if len(ids) == 0 {
			continue
		}
		l.finished[client] = nil
		if err := l.emit(ctx, result{client: client, outputs: &codec.Outputs{Finished: ids}}); err != nil {
			return err
		}
	}
	return nil
}
