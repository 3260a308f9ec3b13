// SPDX-License-Identifier: Apache-2.0

// Rightjoin joins the sending half as Wire does.
package main

import "github.com/corepipe/corepipe/pipeline"

func main() { _ = wire }

func wire(g *pipeline.Group, p pipeline.Parts) {
	commands := pipeline.From(g, "submit", p.Buffer, p.Commands)
	encoded := pipeline.Via(g, "encode", commands, p.Buffer, pipeline.Encode(p.Table))
	routed := pipeline.Via(g, "route", encoded, p.Buffer, pipeline.Route(p.Policy, p.Table))
	pipeline.To(g, "send", routed, pipeline.Send(p.Input, p.Table))
}
