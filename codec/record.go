// SPDX-License-Identifier: Apache-2.0

package codec

// A record is a message with keys: a list of them, each with a pointer to where
// the value lives, serves both directions. It costs an allocation or two, so
// the hot paths have none.
type record interface{ bindings() []binding }

// binding has a pointer of one of the kinds that appendBound knows.
type binding struct {
	key string
	ptr any
}

// nilable is a string whose empty form is nil, nilableList a list of them whose
// nil is nil and not an empty array.
type (
	nilable     string
	nilableList []string
)

// present is a pointer that is never nil on the wire: nil means that the key is
// left out, because vLLM has a default that Go's zero is not.
type present[T any] struct{ p **T }

// nested is a record or list of records behind a pointer of its own.
type nested interface {
	appendTo(b []byte) ([]byte, error)
	readFrom(c *cursor)
}

// of binds a record by value, and opt one that may be nil.
type of[T any, P interface {
	*T
	record
}] struct{ p P }

func (o of[T, P]) appendTo(b []byte) ([]byte, error) { return appendRecord(b, o.p) }
func (o of[T, P]) readFrom(c *cursor)                { c.record(o.p) }

type opt[T any, P interface {
	*T
	record
}] struct{ p *P }

func (o opt[T, P]) appendTo(b []byte) ([]byte, error) {
	if *o.p == nil {
		return append(b, mNil), nil
	}
	return appendRecord(b, *o.p)
}

func (o opt[T, P]) readFrom(c *cursor) {
	if !c.null() {
		*o.p = new(T)
		c.record(*o.p)
	}
}

// list binds a slice of records.
type list[T any, P interface {
	*T
	record
}] struct{ p *[]T }

func (l list[T, P]) appendTo(b []byte) ([]byte, error) {
	b = appendArray(b, len(*l.p))
	var err error
	for i := range *l.p {
		if b, err = appendRecord(b, P(&(*l.p)[i])); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (l list[T, P]) readFrom(c *cursor) {
	if c.null() {
		return
	}
	n := c.array()
	*l.p = make([]T, 0, min(n, c.left()/smallestRecord+1))
	for range n {
		var v T
		from := c.at
		c.record(P(&v))
		if c.atLeast(from, smallestRecord); !c.ok() {
			return
		}
		*l.p = append(*l.p, v)
	}
}

// Records take more memory than an empty map takes bytes, so lists of them
// refuse what is smaller than any that an engine sends.
const (
	smallestRecord  = 8
	smallestFeature = 32
)

func (c *cursor) atLeast(from, size int) {
	if c.ok() && c.at-from < size {
		c.at = from
		c.fail("record without its keys")
	}
}

// appendRecord appends all keys of a record, as vLLM does for dataclasses.
func appendRecord(b []byte, r record) ([]byte, error) { return appendBindings(b, r.bindings()) }

// appendKeys is appendRecord for the keys that a release has, in their order.
// What the release has and we do not is left out; it is dataclasses that are
// written so, whose readers fill in defaults.
func appendKeys(b []byte, r record, keys []string) ([]byte, error) {
	all := r.bindings()
	known := make([]binding, 0, len(keys))
	next := 0
	for _, key := range keys {
		if i := find(all, []byte(key), next); i >= 0 {
			known, next = append(known, all[i]), i+1
		}
	}
	return appendBindings(b, known)
}

func appendBindings(b []byte, all []binding) ([]byte, error) {
	b = appendMap(b, len(all))
	var err error
	for _, f := range all {
		if b, err = appendBound(appendString(b, f.key), f.ptr); err != nil {
			return b, inField(f.key, err)
		}
	}
	return b, nil
}

// record reads a map into r. Unknown keys are read over, missing ones leave
// what r has; so does nil where the type has no nil: other releases and other
// engines may know more, or less.
func (c *cursor) record(r record) {
	all := r.bindings()
	next := 0
	for range c.mapping() {
		key := c.key()
		if !c.ok() {
			return
		}
		i := find(all, key, next)
		if i < 0 {
			c.skip()
			continue
		}
		next = i + 1
		c.field = all[i].key
		c.bound(all[i].ptr)
	}
}

// key reads a map's key; one that is no string is empty, and so matches none.
func (c *cursor) key() []byte {
	if lead := c.peek(); lead&0xe0 == 0xa0 || lead >= mStr8 && lead <= mStr32 {
		return c.text()
	}
	c.skip()
	return nil
}

// find starts at the binding after the last one: senders keep the order.
func find(all []binding, key []byte, next int) int {
	for k := range all {
		i := (next + k) % len(all)
		if all[i].key == string(key) {
			return i
		}
	}
	return -1
}
