// SPDX-License-Identifier: Apache-2.0

package pipeline

import "github.com/corepipe/corepipe/codec"

// unread are the outputs of a stream that wait for its reader, in order.
type unread struct {
	outputs []codec.Output
	at      int // those before are read
}

func (u *unread) empty() bool { return u.at == len(u.outputs) }

// put adds a copy of o without its id, which would keep the whole frame alive. One
// that is not the next to be read may wait for long, and is detached from its message.
func (u *unread) put(o *codec.Output) {
	c := *o
	c.ID = nil
	if !u.empty() {
		c.Detach()
	}
	u.add(c)
}

func (u *unread) add(o codec.Output) { u.outputs = append(u.outputs, o) }

// take removes the first one.
func (u *unread) take() (o codec.Output) {
	o, u.outputs[u.at] = u.outputs[u.at], codec.Output{}
	if u.at++; u.at == len(u.outputs) {
		u.outputs, u.at = u.outputs[:0], 0
	}
	return o
}
