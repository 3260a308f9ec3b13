// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/corepipe/corepipe/codec"
)

// Kind is what a message is.
type Kind string

// The kinds. Those of clients' messages to engines come after a type byte.
const (
	Request     Kind = "request"     // an ADD, type 00
	Abort       Kind = "abort"       // type 01
	Wave        Kind = "wave"        // START_DP_WAVE, type 02; also READY, both from a coordinator
	Utility     Kind = "utility"     // a call, type 03
	Outputs     Kind = "outputs"     // an engine's, with answers to calls; also ENGINE_CORE_DEAD
	Ready       Kind = "ready"       // an engine's first message to a client
	Handshake   Kind = "handshake"   // an engine's HELLO and READY to its launcher
	Init        Kind = "init"        // a launcher's answer to HELLO
	Counts      Kind = "counts"      // what a coordinator publishes to clients
	Coordinator Kind = "coordinator" // FIRST_REQ, SCALE_ELASTIC_EP and subscriptions
	Value       Kind = "value"       // any one msgpack value
)

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{Request, Abort, Wave, Utility, Outputs, Ready, Handshake, Init, Counts, Coordinator, Value}
}

// words are the payloads that are no msgpack, and how they are shown.
var words = []struct {
	kind         Kind
	payload, say string
}{
	{Outputs, codec.DeadSentinel, codec.DeadSentinel},
	{Wave, "READY", "READY"},
	{Coordinator, "\x01", "subscribe"},
	{Coordinator, "\x00", "unsubscribe"},
	{Ready, "", "(empty)"},
}

// Errors that say that a message cannot be looked at without knowing more.
var (
	ErrNoFrames    = errors.New("wire: no frames")
	ErrUnknownKind = errors.New("wire: unknown kind")
)

// Options say what frames or a document do not.
type Options struct {
	// Kind is found out when empty, by the type frame or else by the payload.
	Kind Kind
	// Release is vLLM's, "0.28.0". When empty it is codec.DefaultRelease, unless
	// a request or outputs have a length that only other releases have.
	Release string
	// Fill makes Parse write structs in full length, as vLLM does, with defaults
	// for what a document does not name.
	Fill bool
}

// Message is one message, as it was captured or made.
type Message struct {
	Kind Kind
	// Release is the one whose field names are used; empty for kinds that look
	// the same in all.
	Release string
	// Identity is the engine's, Type the type frame; nil when not captured.
	Identity, Type []byte

	payload []byte
	aux     [][]byte
	word    string
	root    value
	form    *form
	fault   *Fault
	notes   []string
}

// Notes are remarks that are no faults: a release that was guessed, a struct of
// another length than the release's.
func (m *Message) Notes() []string { return m.notes }

// Frames are the message as it travels: identity and type if it has them, the
// payload, the tensor frames.
func (m *Message) Frames() [][]byte {
	var out [][]byte
	for _, front := range [][]byte{m.Identity, m.Type} {
		if front != nil {
			out = append(out, front)
		}
	}
	return append(append(out, m.payload), m.aux...)
}

// Decode reads one message: its payload and tensor frames, and what was captured
// before them. A payload that is not msgpack is a *Fault, and comes with a
// message of what could be read. Other errors are about the options: a
// *codec.ReleaseError, ErrNoFrames, ErrUnknownKind. The message keeps the frames.
func Decode(frames [][]byte, o Options) (*Message, error) {
	if o.Kind != "" && !slices.Contains(Kinds(), o.Kind) {
		return nil, fmt.Errorf("%w %q: it is one of %s", ErrUnknownKind, string(o.Kind), kindList())
	}
	m, err := split(frames, o.Kind)
	if err != nil {
		return nil, err
	}
	if m.word = wordOf(m.Kind, m.payload); m.word != "" {
		return m, nil
	}
	var f *fault
	m.root, f = read(m.payload)
	if err := m.setRelease(o.Release); err != nil {
		return nil, err
	}
	if m.setFault(f); m.fault != nil {
		return m, m.fault
	}
	return m, nil
}

func (m *Message) setFault(f *fault) {
	if f != nil {
		m.fault = &Fault{
			Kind: m.Kind, At: f.at, Field: pathOf(m.form, &m.root, f.path), Reason: f.why, Preview: preview(m.payload, f.at),
		}
	}
}

func kindList() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func wordOf(k Kind, payload []byte) string {
	for _, w := range words {
		if w.kind == k && w.payload == string(payload) {
			return w.say
		}
	}
	return ""
}
