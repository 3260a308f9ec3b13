// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/corepipe/corepipe/bench/wire"
	"github.com/corepipe/corepipe/codec"
)

// wireLayoutsCmd prints tables.
type wireLayoutsCmd struct {
	Release string `placeholder:"R" help:"Print the positions and names of every field of that release."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Run prints the table of all releases, or the fields of one.
func (c *wireLayoutsCmd) Run(t terminal) error {
	if c.Release == "" {
		if c.JSON {
			return writeJSON("-", t.out, wire.Layouts())
		}
		return c.table(t)
	}
	l, err := codec.LayoutOf(c.Release)
	if err != nil {
		return &usageError{"--release", err}
	}
	if c.JSON {
		return writeJSON("-", t.out, map[string]any{"release": c.Release, "since": l.Since(), "structs": wire.Fields(l)})
	}
	return c.fields(t, l)
}

// table has a line for each layout: how many elements each struct has.
func (c *wireLayoutsCmd) table(t terminal) error {
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	structs := []codec.Struct{
		codec.StructRequest, codec.StructOutput, codec.StructOutputs, codec.StructLoRA, codec.StructPooling,
		codec.StructLogprobsLists, codec.StructLogprobsTensors, codec.StructUtilityResult,
	}
	fmt.Fprintln(w, "since\trequest\toutput\toutputs\tlora\tpooling\tlogprobs lists\tlogprobs tensors\tutility result\t")
	for _, l := range codec.Layouts() {
		fmt.Fprintf(w, "%s\t", l.Since())
		for _, s := range structs {
			if n := len(l.Fields(s)); n > 0 {
				fmt.Fprintf(w, "%d\t", n)
			} else {
				fmt.Fprint(w, "bare\t")
			}
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(t.out, "\nElements of each array. A layout holds until the next line's release; --release R names the fields of one.\n")
	return err
}

func (c *wireLayoutsCmd) fields(t terminal, l *codec.Layout) error {
	fmt.Fprintf(t.out, "vLLM %s has the layout of %s.\n", c.Release, l.Since())
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	for _, s := range wire.Fields(l) {
		if len(s.Fields) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s, an array of %d\n", s.Struct, len(s.Fields))
		for _, f := range s.Fields {
			last := "required"
			if !f.Required {
				b, err := json.Marshal(f.Default)
				if err != nil {
					return err
				}
				last = string(b)
			}
			fmt.Fprintf(w, "%4d\t%s\t%s\n", f.Position, f.Name, last)
		}
	}
	return w.Flush()
}
