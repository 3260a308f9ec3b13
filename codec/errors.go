// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"errors"
	"strconv"
	"strings"
)

// ErrUnsupported is what errors.Is finds when a message cannot be said in a
// layout: the release has no place for one of its fields.
var ErrUnsupported = errors.New("codec: not supported by this vLLM release")

// FieldError says that a message was refused before any byte was written,
// because an engine would not survive it or would answer with nonsense.
type FieldError struct {
	// Message is what was refused: "request", "utility", "handshake".
	Message string
	// ID is the request's id, cut to 64 bytes; empty where there is none.
	ID string
	// Field is vLLM's name of the field, with the struct it is in unless that
	// is the request or its sampling parameters: "top_p", "lora_request.lora_path".
	Field string
	// Rule says what was asked and what was found: "must be in (0, 1], is 0".
	Rule string
	// Err is nil or ErrUnsupported.
	Err error
}

// Error gives "codec: request r1: temperature: must be in [0, 2], is 3".
func (e *FieldError) Error() string {
	var b strings.Builder
	b.WriteString("codec: " + e.Message)
	if e.ID != "" {
		b.WriteString(" " + printable(e.ID))
	}
	b.WriteString(": " + e.Field + ": " + e.Rule)
	return b.String()
}

// Unwrap gives Err, so that errors.Is finds ErrUnsupported.
func (e *FieldError) Unwrap() error { return e.Err }

// DecodeError says what of a received message could not be read, and where.
type DecodeError struct {
	// Message is what was read: "outputs", "ready response".
	Message string
	// Field is vLLM's name of the field being read; empty for the envelope.
	Field string
	// Row is the position of the output in its message, -1 outside of any.
	Row int
	// Offset counts bytes from the start of the payload frame.
	Offset int
	// Reason is what was found there.
	Reason string
	// Preview is at most 16 bytes at Offset in hexadecimal.
	Preview string
}

// Error gives one line of bounded length.
func (e *DecodeError) Error() string {
	var b strings.Builder
	b.WriteString("codec: " + e.Message)
	if e.Row >= 0 {
		b.WriteString(": row " + strconv.Itoa(e.Row))
	}
	if e.Field != "" {
		b.WriteString(": " + e.Field)
	}
	b.WriteString(": " + e.Reason + " at byte " + strconv.Itoa(e.Offset))
	if e.Preview != "" {
		b.WriteString(" (" + e.Preview + ")")
	}
	return b.String()
}

// ReleaseError says that a vLLM release is not one of those spoken.
type ReleaseError struct {
	// Release is the text that was given.
	Release string
	// Reason says what is wrong with it.
	Reason string
}

// Error gives "codec: vllm release 0.8.0: older than 0.9.2".
func (e *ReleaseError) Error() string {
	return "codec: vllm release " + printable(e.Release) + ": " + e.Reason
}

// printable keeps ids from the network out of terminals and logs: bounded, and
// quoted unless plain.
func printable(s string) string {
	const most = 64
	if len(s) > most {
		s = s[:most]
	}
	if s == "" || strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) >= 0 {
		return strconv.QuoteToASCII(s)
	}
	return s
}

// inMessage names the message in a refusal of one of its values.
func inMessage(message, id string, err error) error {
	var f *FieldError
	if !errors.As(err, &f) {
		return err
	}
	named := *f
	named.Message = message
	if id != "" {
		named.ID = cut(id)
	}
	return &named
}

// inField names the field in a refusal of its value; nil stays nil.
func inField(field string, err error) error {
	var f *FieldError
	if err == nil || !errors.As(err, &f) {
		return err
	}
	named := *f
	named.Field = field
	return &named
}
