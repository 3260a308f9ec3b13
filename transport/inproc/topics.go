// SPDX-License-Identifier: Apache-2.0

package inproc

import (
	"bytes"
	"slices"
	"sync"

	"github.com/corepipe/corepipe/transport"
)

// The first byte of a packet that is about a subscription; the topic follows.
const (
	unsubscribe = 0
	subscribe   = 1
)

// subscription takes apart a packet about one. A packet of more frames is the
// user's, whatever it starts with.
func subscription(p *transport.Packet) (kind byte, topic []byte, ok bool) {
	if len(p.Frames) != 1 || len(p.Frames[0]) == 0 || p.Frames[0][0] > subscribe {
		return 0, nil, false
	}
	return p.Frames[0][0], p.Frames[0][1:], true
}

// topics are what one subscriber wants from an XPub. Matching looks at each:
// the protocol has one.
type topics struct {
	mu   sync.Mutex // innermost
	list [][]byte
}

// hear follows a subscription that reaches the XPub.
func (t *topics) hear(p transport.Packet) {
	kind, topic, ok := subscription(&p)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.list, func(o []byte) bool { return bytes.Equal(o, topic) })
	switch {
	case kind == subscribe && i < 0:
		t.list = append(t.list, bytes.Clone(topic))
	case kind == unsubscribe && i >= 0:
		t.list = slices.Delete(t.list, i, i+1)
	}
}

// match reports whether the subscriber wants a packet with this first frame.
func (t *topics) match(first []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.list, func(topic []byte) bool { return bytes.HasPrefix(first, topic) })
}

// endAll tells the XPub that everything its lost subscriber wanted has ended.
func (t *topics) endAll(in *pipe) {
	t.mu.Lock()
	list := t.list
	t.list = nil
	t.mu.Unlock()
	in.to.mu.Lock()
	defer in.to.mu.Unlock()
	for _, topic := range list {
		in.deliver(notice(unsubscribe, topic))
	}
}

// notice makes a packet about a subscription.
func notice(kind byte, topic []byte) transport.Packet {
	return transport.Packet{Frames: [][]byte{append([]byte{kind}, topic...)}, Shared: 1}
}
