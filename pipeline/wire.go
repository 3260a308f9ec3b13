// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport"
)

// Parts is what a Client hands to Config.Wire to be joined.
type Parts struct {
	Commands Source[Command] // what the Client's callers submit, abort and call
	Policy   policy.Policy
	Table    *Table
	Input    transport.Conn // the Router that engines' input sockets are connected to
	Outputs  []Output       // the Pulls that they send to
	Buffer   int            // Config.Buffer, for every channel
}

// Output is a connection on which outputs arrive.
type Output struct {
	Conn transport.Conn
	Rank int // the engine that has it for itself; -1 when engines share it
}

// Wire is the default pipeline. A Config.Wire of one's own is a copy of these
// lines with a stage more, or it wraps a part and calls Wire:
//
//	submit → encode → route → send  ⇒ engines
//	                        register ⇐ ready messages
//	       dispatch ← decode ← receive ⇐ outputs, once for each output address
func Wire(g *Group, p Parts) {
	commands := From(g, "submit", p.Buffer, p.Commands)
	encoded := Via(g, "encode", commands, p.Buffer, Encode(p.Table))
	routed := Via(g, "route", encoded, p.Buffer, Route(p.Policy, p.Table))
	To(g, "send", routed, Send(p.Input, p.Table))

	ready := From(g, "ready", p.Buffer, Receive(p.Input))
	To(g, "register", ready, Register(p.Table))

	for _, o := range p.Outputs {
		packets := From(g, "receive", p.Buffer, Receive(o.Conn))
		outputs := Via(g, "decode", packets, p.Buffer, Decode(p.Table, o.Rank))
		To(g, "dispatch", outputs, Dispatch(p.Table))
	}
}
