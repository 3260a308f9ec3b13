// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/corepipe/corepipe/codec"
)

// Append appends the message as a JSON document that ends in a newline. Brief
// leaves out what a reader can do without: fields that have their default, the
// rest of long lists, the bytes of large tensors. Parse refuses such a document,
// and one of a message that could not be read to its end.
func (m *Message) Append(dst []byte, brief bool) []byte {
	out := objectOf(textOf("kind"), textOf(string(m.Kind)))
	add := func(key string, v value) { out.list = append(out.list, textOf(key), v) }
	if m.Release != "" {
		add("release", textOf(m.Release))
	}
	if m.Identity != nil {
		add("identity", textOf(hex.EncodeToString(m.Identity)))
	}
	if m.Type != nil {
		add("type", textOf(hex.EncodeToString(m.Type)))
	}
	if brief {
		add("brief", value{kind: boolean, bits: 1})
	}
	s := &shower{frames: m.aux, shown: make([]bool, len(m.aux)), brief: brief}
	if m.word != "" {
		add("message", textOf(m.word))
	} else {
		add("message", s.show(m.form, &m.root))
	}
	if rest := s.rest(); rest.list != nil {
		add("frames", rest)
	}
	if f := m.fault; f != nil {
		add("undecodable", objectOf(textOf("at"), numberOf(f.At), textOf("field"), textOf(f.Field), textOf("reason"), textOf(f.Reason)))
	}
	return append(appendJSON(dst, &out, 0), '\n')
}

// rest are the tensor frames that no tensor was shown with.
func (s *shower) rest() value {
	list := value{kind: array}
	for i, data := range s.frames {
		if s.shown[i] {
			continue
		}
		x := objectOf(textOf("frame"), numberOf(i+1))
		if s.brief {
			x.list = append(x.list, textOf("bytes"), numberOf(len(data)))
		} else {
			x.list = append(x.list, textOf("base64"), textOf(base64.StdEncoding.EncodeToString(data)))
		}
		list.list = append(list.list, x)
	}
	return list
}

// Parse reads documents as Append writes them, or by hand, and makes their
// messages. Options override what documents say. The error is a *SyntaxError
// with the line and the field, a *codec.ReleaseError, or ErrUnknownKind.
func Parse(text []byte, o Options) ([]*Message, error) {
	all, err := documents(text)
	if err != nil {
		return nil, err
	}
	var out []*Message
	for i := range all {
		m, err := parse(&all[i], o)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if out == nil {
		return nil, &SyntaxError{Line: 1, Reason: "no JSON here"}
	}
	return out, nil
}

func parse(v *value, o Options) (*Message, error) {
	body, err := envelope(v)
	if err != nil {
		return nil, err
	}
	k, release := o.Kind, o.Release
	if k == "" {
		k = Kind(v.get("kind").string())
	}
	if release == "" {
		release = v.get("release").string()
	}
	if release == "" {
		release = codec.DefaultRelease
	}
	if !slices.Contains(Kinds(), k) {
		return nil, fmt.Errorf("%w %q: it is one of %s", ErrUnknownKind, string(k), kindList())
	}
	l, err := codec.LayoutOf(release)
	if err != nil {
		return nil, err
	}
	r := &restorer{release: release, fill: o.Fill, frames: map[int][]byte{}}
	payload, err := r.payload(k, formOf(k, l), body)
	if err != nil {
		return nil, err
	}
	frames, err := r.around(v, payload)
	if err != nil {
		return nil, err
	}
	return decodeMade(frames, v, Options{Kind: k, Release: release})
}

// decodeMade gives the message of frames that were just made, without guessing
// what is in front of the payload.
func decodeMade(frames [][]byte, v *value, o Options) (*Message, error) {
	m := &Message{Kind: o.Kind, payload: frames[0], aux: frames[1:]}
	var err error
	if m.Identity, err = front(v, "identity"); err != nil {
		return nil, err
	}
	if m.Type, err = front(v, "type"); err != nil {
		return nil, err
	}
	if m.word = wordOf(m.Kind, m.payload); m.word != "" {
		return m, nil
	}
	var f *fault
	m.root, f = read(m.payload)
	err = m.setRelease(o.Release)
	m.setFault(f)
	return m, err
}

func front(v *value, key string) ([]byte, error) {
	x := v.get(key)
	if x == nil {
		return nil, nil
	}
	b, err := hex.DecodeString(x.string())
	if err != nil || len(b) == 0 {
		return nil, &SyntaxError{Line: x.at, Reason: key + ": hexadecimal digits expected, in a string"}
	}
	return b, nil
}

// envelope checks the outer object and gives the message in it.
func envelope(v *value) (*value, error) {
	fail := func(format string, args ...any) (*value, error) {
		return nil, &SyntaxError{Line: v.at, Reason: fmt.Sprintf(format, args...)}
	}
	if v.get("message") == nil {
		return fail(`an object with "kind" and "message" expected`)
	}
	known := []string{"kind", "release", "identity", "type", "message", "frames"}
	for i := 0; i < len(v.list); i += 2 {
		switch key := v.list[i].string(); {
		case key == "brief":
			return fail("printed with --brief, which leaves things out")
		case key == "undecodable":
			return fail("the message could not be read to its end")
		case !slices.Contains(known, key):
			return fail("unknown key %q beside %q", key, known)
		}
	}
	return v.get("message"), nil
}
