// SPDX-License-Identifier: Apache-2.0

package codec

// Struct is one of the messages, or parts of messages, that are arrays without
// names on the wire: which field stands where depends on the vLLM release.
type Struct int

// The structs, by vLLM's names.
const (
	StructRequest         Struct = iota // EngineCoreRequest
	StructOutput                        // EngineCoreOutput
	StructOutputs                       // EngineCoreOutputs
	StructLoRA                          // LoRARequest
	StructPooling                       // PoolingParams
	StructLogprobsLists                 // LogprobsLists
	StructLogprobsTensors               // LogprobsTensors
	StructUtilityOutput                 // UtilityOutput
	// StructUtilityResult is empty before 0.10.1, where the bare result was sent.
	StructUtilityResult // UtilityResult
)

// Structs are all of them.
func Structs() []Struct {
	all := make([]Struct, StructUtilityResult+1)
	for i := range all {
		all[i] = Struct(i)
	}
	return all
}

// String gives vLLM's name, "EngineCoreRequest".
func (s Struct) String() string {
	names := [...]string{
		"EngineCoreRequest", "EngineCoreOutput", "EngineCoreOutputs", "LoRARequest", "PoolingParams",
		"LogprobsLists", "LogprobsTensors", "UtilityOutput", "UtilityResult",
	}
	if s < 0 || int(s) >= len(names) {
		return "unknown struct"
	}
	return names[s]
}

// Field is one position of a Struct.
type Field struct {
	// Name is vLLM's, "request_id".
	Name string
	// Default is what the field's default is on the wire, in msgpack: one byte.
	// A field that has no default in vLLM has the empty value of its type.
	Default byte
}

// Fields are the positions of a struct in this layout, in order; none for a
// struct that its releases do not have. It is for tools that show or make
// messages; it copies.
func (l *Layout) Fields(s Struct) []Field {
	var out []Field
	for _, f := range l.slots(s) {
		out = append(out, Field{Name: f.field.String(), Default: f.zero})
	}
	if s == StructUtilityResult && !l.bareResult {
		out = []Field{{"type_info", mNil}, {"result", mNil}}
	}
	return out
}

func (l *Layout) slots(s Struct) []slot {
	switch s {
	case StructRequest:
		return l.request
	case StructOutput:
		return l.output
	case StructOutputs:
		return l.outputs
	case StructLoRA:
		return l.lora
	case StructPooling:
		return l.pooling
	case StructLogprobsLists:
		return l.lists
	case StructLogprobsTensors:
		return l.tensors
	case StructUtilityOutput:
		return []slot{{fCallID, 0}, {fFailureMessage, mNil}, {fResult, mNil}}
	}
	return nil
}

// Required is the number of elements at the front of a request without which an
// engine cannot decode it.
func (l *Layout) Required() int { return l.need }

// Layouts are all of them, the oldest first.
func Layouts() []*Layout {
	out := make([]*Layout, len(layouts))
	for i := range out {
		out[i] = &layouts[i]
	}
	return out
}
