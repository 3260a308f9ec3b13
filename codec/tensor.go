// SPDX-License-Identifier: Apache-2.0

package codec

// Tensor is an array of numbers, little endian in C order. On the wire it is
// [dtype, shape, data], data inline below 256 bytes and else the index of a
// frame of its own. vLLM: torch.Tensor, or numpy.ndarray with NumPy.
type Tensor struct {
	// DType is the name of the element type in torch's form, "float32", also
	// with NumPy; see the DType constants.
	DType string
	// Shape is empty for a scalar.
	Shape []int
	// Data has product(Shape) elements. After decoding it aliases the frame
	// and must not be written; an encoded one is passed on by reference.
	Data []byte
	// NumPy writes DType as numpy does: "<f4" for float32.
	NumPy bool
}
