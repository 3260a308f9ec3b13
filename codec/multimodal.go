// SPDX-License-Identifier: Apache-2.0

package codec

// MMFeature is one multi-modal input. vLLM: MultiModalFeatureSpec.
type MMFeature struct {
	// Data is nil when the engine has the input in its cache. Items keep their
	// order: it decides the order of the tensor frames.
	Data       []MMItem
	Modality   string // "image", "audio", "video".
	Identifier string
	Position   MMPosition // vLLM: mm_position.
	Hash       string     // vLLM: mm_hash.
}

// MMPosition says which prompt positions an input takes. vLLM: PlaceholderRange.
type MMPosition struct {
	Offset  int
	Length  int
	IsEmbed *Tensor // bool, shape [Length].
}

// MMItem is one named processor output. vLLM: MultiModalFieldElem.
type MMItem struct {
	Key string
	// Value is nil, *Tensor, int64, float64, or []any of these. vLLM:
	// NestedTensors.
	Value any
	Field MMField
}

// MMField says how items are batched. vLLM: MultiModalBatchedField and so on.
type MMField struct {
	Kind      string // "batched", "shared" or "flat".
	KeepOnCPU bool
	BatchSize int     // of "shared".
	Slices    []Slice // of "flat": one for each item.
	// SliceGroups of "flat", when not nil, stands in for Slices: for each item
	// one slice a dimension.
	SliceGroups [][]Slice
	Dim         int // of "flat".
}

// Slice is Python's slice; nil parts are None.
type Slice struct {
	Start, Stop, Step *int
}
