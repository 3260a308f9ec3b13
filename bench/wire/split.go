// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"

	"github.com/corepipe/corepipe/codec"
)

// typed are the kinds that come after a type byte.
var typed = map[Kind]codec.Kind{Request: codec.Add, Abort: codec.Abort, Wave: codec.StartWave, Utility: codec.Utility}

// split takes what was captured around the payload off.
func split(frames [][]byte, k Kind) (*Message, error) {
	m := &Message{Kind: k}
	if len(frames) == 0 {
		return nil, ErrNoFrames
	}
	frames = m.front(frames)
	m.payload, m.aux = frames[0], frames[1:]
	switch byType := kindOfType(m.Type); {
	case m.Kind == "" && m.Type != nil:
		m.Kind = byType
	case m.Kind == "":
		m.Kind = guess(m.payload)
	case m.Type != nil && byType != m.Kind:
		return nil, fmt.Errorf("%w: the type frame %x says %s, not %s", ErrUnknownKind, m.Type, codec.Kind(m.Type[0]), m.Kind)
	}
	if m.Kind == "" {
		return nil, fmt.Errorf("%w: nothing tells what this message is; say one of %s", ErrUnknownKind, kindList())
	}
	return m, nil
}

// front sets the identity and the type frame, and gives the frames after them.
func (m *Message) front(frames [][]byte) [][]byte {
	_, hasType := typed[m.Kind]
	hasType = hasType || m.Kind == ""
	switch {
	case len(frames) < 2:
	case hasType && len(frames) > 2 && len(frames[0]) == 2 && len(frames[1]) == 1:
		m.Identity, m.Type = frames[0], frames[1]
		return frames[2:]
	case hasType && len(frames[0]) == 1:
		m.Type = frames[0]
		return frames[1:]
	case m.maybeGreeting() && len(frames) == 2 && len(frames[0]) == 2:
		m.Identity = frames[0] // of an engine that speaks for the first time
		return frames[1:]
	}
	return frames
}

func (m *Message) maybeGreeting() bool {
	return m.Kind == "" || m.Kind == Ready || m.Kind == Handshake || m.Kind == Init
}

// kindOfType gives Value for a type that has no kind here; Check objects to it.
func kindOfType(frame []byte) Kind {
	for k, t := range typed {
		if len(frame) == 1 && frame[0] == byte(t) {
			return k
		}
	}
	return Value
}

// guess tells a message by its payload; empty when it could be several.
func guess(payload []byte) Kind {
	for _, w := range words {
		if w.payload == string(payload) {
			return w.kind
		}
	}
	v, _ := read(payload)
	switch {
	case v.kind == mapping && v.get("status") != nil:
		return Handshake
	case v.kind == mapping && v.get("addresses") != nil:
		return Init
	case v.kind == mapping && (v.get("max_model_len") != nil || v.get("num_gpu_blocks") != nil):
		return Ready
	case v.kind == array && len(v.list) > 0:
		return guessArray(v.list)
	}
	return ""
}

func guessArray(list []value) Kind {
	is := func(i int, kinds ...kind) bool {
		for _, k := range kinds {
			if i < len(list) && list[i].kind == k {
				return true
			}
		}
		return false
	}
	switch {
	case is(0, text) && is(1, natural) && len(list) == 2:
		return Coordinator
	case is(0, text) && (len(list) == 1 || is(1, text)):
		return Abort
	case is(0, text) && is(1, array, null):
		return Request
	case is(0, natural) && is(1, array):
		return Outputs
	case is(0, array, null) && is(1, natural) && is(2, boolean):
		return Counts
	case is(0, natural) && is(1, natural, negative) && is(2, text):
		return Utility
	case is(0, bin) && is(1, natural):
		return Coordinator
	case is(0, natural) && is(1, null, bin):
		return Wave
	}
	return "" // [5, 1] may be a wave or a first request.
}
