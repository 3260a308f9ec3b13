// SPDX-License-Identifier: Apache-2.0

package codec

// AppendHandshake appends a handshake message, a map. The hash is left out when
// empty.
func AppendHandshake(dst []byte, h *Handshake) ([]byte, error) {
	if !validText(h.Status, h.ParallelConfigHash) {
		return dst, &FieldError{Message: "handshake", Field: "status", Rule: "is not valid UTF-8"}
	}
	n := 3 + btoi(h.ParallelConfigHash != "")
	b := appendString(appendString(appendMap(dst, n), "status"), h.Status)
	b = appendBool(appendString(b, "local"), h.Local)
	b = appendBool(appendString(b, "headless"), h.Headless)
	if h.ParallelConfigHash != "" {
		b = appendString(appendString(b, "parallel_config_hash"), h.ParallelConfigHash)
	}
	return b, nil
}

// DecodeHandshake reads a handshake message. A missing status is an error, as
// is anything a *DecodeError can say; unknown keys are read over.
func DecodeHandshake(payload []byte) (*Handshake, error) {
	h := &Handshake{}
	if err := decodeRecord("handshake", payload, h, "status"); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *Handshake) bindings() []binding {
	return []binding{
		{"status", &h.Status},
		{"local", &h.Local},
		{"headless", &h.Headless},
		{"parallel_config_hash", (*nilable)(&h.ParallelConfigHash)},
	}
}

// AppendInit appends the answer to HELLO, a map of two.
func AppendInit(dst []byte, i *Init) ([]byte, error) {
	return appendWhole(dst, "init", i)
}

// DecodeInit reads the answer to HELLO. The error is a *DecodeError.
func DecodeInit(payload []byte) (*Init, error) {
	i := &Init{}
	if err := decodeRecord("init", payload, i, "addresses"); err != nil {
		return nil, err
	}
	return i, nil
}

func (i *Init) bindings() []binding {
	return []binding{
		{"addresses", of[addresses, *addresses]{(*addresses)(i)}},
		{"parallel_config", filled{&i.ParallelConfig}},
	}
}

// addresses is the inner map of Init.
type addresses Init

func (a *addresses) bindings() []binding {
	return []binding{
		{"inputs", &a.Inputs},
		{"outputs", &a.Outputs},
		{"coordinator_input", (*nilable)(&a.CoordinatorInput)},
		{"coordinator_output", (*nilable)(&a.CoordinatorOutput)},
		{"frontend_stats_publish_address", (*nilable)(&a.StatsAddress)},
	}
}

// AppendReady appends an engine's ready message with all keys of the newest
// release: readers pass over what they do not know.
func AppendReady(dst []byte, r *Ready) ([]byte, error) {
	return appendWhole(dst, "ready response", r)
}

// DecodeReady reads an engine's ready message; nil, nil for an empty payload,
// which engines before 0.20.0 send. A map without max_model_len is a
// *DecodeError that names it; any other key may be missing.
func DecodeReady(payload []byte) (*Ready, error) {
	if len(payload) == 0 {
		return nil, nil
	}
	r := &Ready{}
	if err := decodeRecord("ready response", payload, r, "max_model_len"); err != nil {
		return nil, err
	}
	return r, nil
}

func appendWhole(dst []byte, message string, r record) ([]byte, error) {
	b, err := appendRecord(dst, r)
	if err != nil {
		return dst, inMessage(message, "", err)
	}
	return b, nil
}

// decodeRecord reads a payload that is one map, with one key it cannot lack.
func decodeRecord(message string, payload []byte, r record, need string) error {
	c := &cursor{b: payload}
	c.record(r)
	c.end()
	if c.ok() && !hasKey(payload, need) {
		c.field, c.at = need, 0
		c.fail("key is missing")
	}
	return c.err(message, -1)
}

// hasKey looks through a map that was read before.
func hasKey(payload []byte, key string) bool {
	c := cursor{b: payload}
	for range c.mapping() {
		if string(c.key()) == key {
			return true
		}
		c.skip()
	}
	return false
}
