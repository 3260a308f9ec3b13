// SPDX-License-Identifier: Apache-2.0

// Wrongjoin sends what was not routed.
package main

import "github.com/corepipe/corepipe/pipeline"

func main() { _ = wire }

func wire(g *pipeline.Group, p pipeline.Parts) {
	commands := pipeline.From(g, "submit", p.Buffer, p.Commands)
	encoded := pipeline.Via(g, "encode", commands, p.Buffer, pipeline.Encode(p.Table))
	pipeline.To[pipeline.Routed](g, "send", encoded, pipeline.Send(p.Input, p.Table)) // refused here
}
