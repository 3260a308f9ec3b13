// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"sync"
	"sync/atomic"

	"github.com/corepipe/corepipe/codec"
)

// message is the frames of a command. Its buffer goes back to the pool when the
// packet is sent, which is safe because a Conn keeps no frame before shared.
type message struct {
	frames [][]byte // type, payload, tensors
	shared int
	buffer *buffer // nil when nobody gives it back
	turn   uint64  // the buffer's when this message was made
	wave   int     // what a request was stamped with
}

// buffer is the memory of one message. One goroutine has it at a time.
type buffer struct {
	home    *sync.Pool    // where it goes back to
	turn    atomic.Uint64 // one more at each release: a copy of an old message is known by it
	payload []byte
	aux     [][]byte
	frames  [][]byte
}

// maxPooled bounds what an idle buffer may hold on to, in bytes.
const maxPooled = 1 << 20

// kinds are the type frames, shared by all messages and never written.
var kinds = [...][]byte{{byte(codec.Add)}, {byte(codec.Abort)}, {byte(codec.StartWave)}, {byte(codec.Utility)}}

// newMessage encodes by f, which appends a payload and tensors' frames.
func newMessage(pool *sync.Pool, k codec.Kind, f func(b *buffer) error) (message, error) {
	b, ok := pool.Get().(*buffer)
	if !ok {
		b = &buffer{home: pool}
	}
	b.payload, b.aux = b.payload[:0], b.aux[:0]
	if err := f(b); err != nil {
		pool.Put(b)
		return message{}, err
	}
	b.frames = append(append(b.frames[:0], kinds[k], b.payload), b.aux...)
	return message{frames: b.frames, shared: 2, buffer: b, turn: b.turn.Load()}, nil
}

// stale says that the memory is somebody else's by now, because a stage has passed
// the same message on twice.
func (m *message) stale() bool { return m.buffer != nil && m.buffer.turn.Load() != m.turn }

// release gives the memory back. The message is not used afterwards.
func (m *message) release() {
	b := m.buffer
	if b == nil || !b.turn.CompareAndSwap(m.turn, m.turn+1) {
		return
	}
	clear(b.aux[:cap(b.aux)]) // tensors are the user's: do not keep them alive
	clear(b.frames[:cap(b.frames)])
	if cap(b.payload) <= maxPooled {
		b.home.Put(b)
	}
}
