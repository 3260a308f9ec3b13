// SPDX-License-Identifier: Apache-2.0

package inproc

// fifo is a queue in a slice. Both ends cost constant time on average; the
// space is twice the longest queue at most and is given back when a long one
// has run empty.
type fifo[T any] struct {
	items []T
	head  int
}

// keep is the capacity that an empty queue holds on to.
const keep = 1024

func (f *fifo[T]) len() int { return len(f.items) - f.head }

func (f *fifo[T]) first() *T { return &f.items[f.head] }

func (f *fifo[T]) push(v T) {
	if len(f.items) == cap(f.items) && f.head > len(f.items)/2 {
		n := copy(f.items, f.items[f.head:])
		clear(f.items[n:])
		f.items, f.head = f.items[:n], 0
	}
	f.items = append(f.items, v)
}

// pop may be called on a queue that is not empty.
func (f *fifo[T]) pop() T {
	var zero T
	v := f.items[f.head]
	f.items[f.head] = zero // or the packet would live as long as the slice
	f.head++
	if f.head == len(f.items) {
		f.items, f.head = f.items[:0], 0
		if cap(f.items) > keep {
			f.items = nil
		}
	}
	return v
}

// truncate drops all but the first n.
func (f *fifo[T]) truncate(n int) {
	clear(f.items[f.head+n:])
	f.items = f.items[:f.head+n]
}
