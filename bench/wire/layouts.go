// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"strconv"

	"github.com/corepipe/corepipe/codec"
)

// LayoutLengths is a line of the table of releases.
type LayoutLengths struct {
	// Since is the first release of the layout.
	Since string `json:"since"`
	// Lengths are the elements of each positional struct, by vLLM's name of it.
	Lengths map[string]int `json:"lengths"`
}

// Layouts gives all, the oldest first.
func Layouts() []LayoutLengths {
	var out []LayoutLengths
	for _, l := range codec.Layouts() {
		x := LayoutLengths{Since: l.Since(), Lengths: map[string]int{}}
		for _, s := range codec.Structs() {
			x.Lengths[s.String()] = len(l.Fields(s))
		}
		out = append(out, x)
	}
	return out
}

// StructFields are the positions of one struct in a release.
type StructFields struct {
	Struct string        `json:"struct"`
	Fields []StructField `json:"fields"`
}

// StructField is one position.
type StructField struct {
	Position int    `json:"position"`
	Name     string `json:"name"`
	// Required is set for the fields of a request that an engine cannot do
	// without.
	Required bool `json:"required,omitempty"`
	// Default is JSON; null also where vLLM has none.
	Default any `json:"default"`
}

// Fields gives the structs of a release with their positions.
func Fields(l *codec.Layout) []StructFields {
	var out []StructFields
	for _, s := range codec.Structs() {
		x := StructFields{Struct: s.String(), Fields: []StructField{}}
		for i, f := range l.Fields(s) {
			x.Fields = append(x.Fields, StructField{
				Position: i, Name: f.Name, Default: defaultOf(f.Default),
				Required: s == codec.StructRequest && i < l.Required(),
			})
		}
		out = append(out, x)
	}
	return out
}

func defaultOf(zero byte) any {
	v, err := codec.DecodeValue([]byte{zero})
	if err != nil {
		return "0x" + strconv.FormatUint(uint64(zero), 16)
	}
	return v
}
