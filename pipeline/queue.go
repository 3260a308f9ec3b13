// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"sync"
)

// queue is where callers leave their commands and the pipeline's source takes
// them, all there are at a time. put never blocks, so that aborts pass whatever
// happens; admission bounds how many commands there can be.
type queue struct {
	kick chan struct{} // one slot: something was put since take

	mu       sync.Mutex
	commands []Command
	closed   bool
}

func newQueue() *queue { return &queue{kick: make(chan struct{}, 1)} }

// put is ignored after close: then every stream and call has ended, and none is
// admitted. It may be called under Table.mu.
func (q *queue) put(c Command) {
	q.mu.Lock()
	if !q.closed {
		q.commands = append(q.commands, c)
	}
	q.mu.Unlock()
	q.wake()
}

// close ends the source once it has passed on what is queued.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.kick <- struct{}{}:
	default:
	}
}

// take swaps the queued commands for an empty slice to be filled next.
func (q *queue) take(empty []Command) (commands []Command, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	commands, q.commands = q.commands, empty
	return commands, q.closed
}

// source emits the commands in the order in which they were put.
func (q *queue) source(ctx context.Context, out chan<- Command) error {
	var spare []Command
	for {
		commands, closed := q.take(spare[:0])
		for i, c := range commands {
			if err := Emit(ctx, out, c); err != nil {
				q.mu.Lock()
				q.commands = append(commands[i:], q.commands...) // for the owner to fail
				q.mu.Unlock()
				return err
			}
		}
		if len(commands) == 0 {
			if closed {
				return nil
			}
			select {
			case <-q.kick:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		clear(commands)
		spare = commands
	}
}
