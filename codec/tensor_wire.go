// SPDX-License-Identifier: Apache-2.0

package codec

// The extensions that are not read. vLLM: CUSTOM_TYPE_PICKLE and
// CUSTOM_TYPE_CLOUDPICKLE.
const (
	extPickle      = 1
	extCloudPickle = 2
)

// inlineBelow is the size from which a tensor gets a frame of its own. vLLM:
// VLLM_MSGPACK_ZERO_COPY_THRESHOLD.
const inlineBelow = 256

// encoder appends one message: the payload and the tensor frames, which hold
// the tensors' own memory. The first error sticks. It is never handed to an
// interface, so it stays on the stack.
type encoder struct {
	b      []byte
	aux    [][]byte
	base   int // len(aux) at the start: indices count from this message's first.
	layout *Layout
	err    error
}

// tensor appends t, which check has passed, or nil.
func (e *encoder) tensor(t *Tensor) {
	if t == nil {
		e.b = append(e.b, mNil)
		return
	}
	name := t.DType
	if t.NumPy {
		d, _ := dtypeOf(t.DType)
		name = d.numpy
	}
	e.b = appendString(append(e.b, 0x93), name)
	e.b = appendArray(e.b, len(t.Shape))
	for _, n := range t.Shape {
		e.b = appendInt(e.b, n)
	}
	// numpy scalars are inline whatever their size; none reaches the limit.
	if len(t.Data) < inlineBelow {
		e.b = appendExt(e.b, t.Data)
		return
	}
	e.aux = append(e.aux, t.Data)
	e.b = appendInt(e.b, len(e.aux)-e.base)
}

// value appends v of any kind through AppendValue; an error names the field.
func (e *encoder) value(field string, v any) {
	if e.err == nil {
		e.b, e.err = AppendValue(e.b, v)
		e.err = inField(field, e.err)
	}
}

// params appends a map of any values, nil for nil.
func (e *encoder) params(field string, m map[string]any) {
	if m == nil {
		e.b = append(e.b, mNil)
		return
	}
	e.value(field, m)
}

// tensor reads a tensor or nil. Inline data and data in a frame of its own are
// aliased; the third form, shared memory of the engine's machine, is refused.
func (c *cursor) tensor() *Tensor {
	if c.null() {
		return nil
	}
	if n := c.array(); n != 3 {
		c.fail("tensor of three elements expected")
		return nil
	}
	return c.tensorParts()
}

// tensorParts reads the three elements of a tensor.
func (c *cursor) tensorParts() *Tensor {
	t := &Tensor{}
	at := c.at
	d, ok := c.dtype(c.text(), &t.NumPy)
	if !ok {
		c.at = at
		c.fail("unknown dtype")
		return nil
	}
	t.DType = d.torch
	t.Shape = make([]int, c.array())
	for i := range t.Shape {
		if t.Shape[i] = c.int(); t.Shape[i] < 0 {
			c.fail("negative dimension")
		}
	}
	at = c.at
	t.Data = c.tensorData()
	if c.ok() && !fills(t.Shape, d.size, len(t.Data)) {
		c.at = at
		c.fail("data does not fill the shape")
	}
	if !c.ok() {
		return nil
	}
	return t
}

func (c *cursor) dtype(name []byte, numpy *bool) (dtype, bool) {
	for _, d := range dtypes {
		if string(name) == d.torch {
			return d, true
		}
		if d.numpy != "" && string(name) == d.numpy {
			*numpy = true
			return d, true
		}
	}
	return dtype{}, false
}

func (c *cursor) tensorData() []byte {
	lead := c.peek()
	if lead < 0x80 || lead >= mU8 && lead <= mI64 {
		i := c.int()
		if i < 1 || i > len(c.aux) {
			c.fail("tensor frame is not there")
			return nil
		}
		return c.aux[i-1]
	}
	if lead&0xf0 == 0x80 || lead == mMap16 || lead == mMap32 {
		c.fail("a tensor in shared memory, torch_shm, which is not read")
	}
	return c.blob()
}
