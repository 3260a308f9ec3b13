// SPDX-License-Identifier: Apache-2.0

package wire

import "encoding/base64"

// payload makes the payload frame of a document's message.
func (r *restorer) payload(k Kind, f *form, body *value) ([]byte, error) {
	for _, w := range words {
		if w.kind == k && body.kind == text && w.say == body.string() {
			return []byte(w.payload), nil
		}
	}
	v, err := r.restore(f, body)
	if err != nil {
		return nil, err
	}
	return appendMsgpack(nil, &v), nil
}

// around puts the tensor frames behind the payload: those of tensors, and those
// that the document has besides.
func (r *restorer) around(v *value, payload []byte) ([][]byte, error) {
	if list := v.get("frames"); list != nil {
		r.path, r.line = []string{"frames"}, list.at
		for i := range list.list {
			n, coded := list.list[i].get("frame"), list.list[i].get("base64")
			data, err := base64.StdEncoding.DecodeString(coded.string())
			if n == nil || n.kind != natural || n.bits < 1 || n.bits > maxFrames || coded == nil || err != nil {
				return nil, r.fail(`a frame is {"frame": 1 to %d, "base64": "…"}`, maxFrames)
			}
			if err := r.frame(int(n.bits), data); err != nil {
				return nil, err
			}
		}
	}
	out := [][]byte{payload}
	for i := 1; i <= r.last; i++ {
		data, ok := r.frames[i]
		if !ok {
			r.path = nil
			return nil, r.fail("frame %d of %d has no data", i, r.last)
		}
		out = append(out, data)
	}
	return out, nil
}
