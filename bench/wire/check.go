// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/corepipe/corepipe/codec"
)

// Fault is what a peer would object to, or what is not msgpack at all.
type Fault struct {
	Kind Kind
	// At is the byte of the payload frame, -1 for a value that is well formed
	// and not allowed.
	At int
	// Field is the place, outputs[3].new_token_ids; empty for the whole message.
	Field string
	// Reason is what is wrong there.
	Reason string
	// Preview is at most 16 bytes at At in hexadecimal.
	Preview string
}

// Error gives "wire: outputs: outputs[3].new_token_ids: integer expected at byte
// 34 (c0)".
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString("wire: " + string(f.Kind))
	if f.Field != "" {
		b.WriteString(": " + f.Field)
	}
	b.WriteString(": " + f.Reason)
	if f.At >= 0 {
		fmt.Fprintf(&b, " at byte %d", f.At)
	}
	if f.Preview != "" {
		b.WriteString(" (" + f.Preview + ")")
	}
	return b.String()
}

// Check decodes the message as corepipe does, looks at all of it, and gives what
// it objects to. For a request that includes the rules on values: an engine that
// gets what breaks them answers with an error, or never reads again.
func (m *Message) Check() []*Fault {
	if m.fault != nil {
		return []*Fault{m.fault}
	}
	var out []*Fault
	if m.Type != nil && kindOfType(m.Type) == Value {
		out = append(out, &Fault{Kind: m.Kind, At: -1, Reason: fmt.Sprintf("type frame %x: no client may send it, an engine does not survive it", m.Type)})
	}
	if m.word != "" {
		return out
	}
	l, err := codec.LayoutOf(m.Release)
	if err != nil {
		l, _ = codec.LayoutOf(codec.DefaultRelease)
	}
	for _, o := range faults(m.Kind, l, m.payload, m.aux) {
		out = append(out, m.faultOf(o))
	}
	return out
}

// objection is an error of the codec, and where the part that it counts bytes of
// begins.
type objection struct {
	err error
	in  []string // the part: positions by name, from the root.
}

// faultOf adds the place to an error of the codec.
func (m *Message) faultOf(o objection) *Fault {
	d, ok := errors.AsType[*codec.DecodeError](o.err)
	if !ok {
		f := &Fault{Kind: m.Kind, At: -1, Reason: o.err.Error()}
		if x, ok := errors.AsType[*codec.FieldError](o.err); ok {
			f.Field, f.Reason = x.Field, x.Rule
		}
		return f
	}
	at, root, form := d.Offset, &m.root, m.form
	for _, name := range o.in {
		for i := range root.list {
			if inner, step := form.step(root, i); step == "."+name {
				root, form = &root.list[i], inner
				break
			}
		}
	}
	if o.in != nil {
		at += root.at
	}
	f := &Fault{Kind: m.Kind, At: at, Field: pathAt(m.form, &m.root, at), Reason: d.Reason, Preview: preview(m.payload, at)}
	return f
}
