// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// Trace is requests in order of arrival.
type Trace []Request

// Request is one of a trace. In a file it is a line of JSON:
//
//	{"at": 1.5, "prompt": 700, "output": 120, "session": "s7", "prefix": "p3", "prefix_tokens": 512}
//
// at is in seconds since the start. prompt is how many tokens it has, or the list of
// their ids. output is how many tokens the answer has. The rest may be left out.
//
// A prompt given as a number is made of text that is told by name: its first
// prefix_tokens tokens are those of the prefix, which all prompts with that prefix
// share, and what follows is the text of the session from its start on, so that each
// turn of a conversation repeats the earlier ones, answers included; without a session
// it is text of its own.
type Request struct {
	At     time.Duration
	Prompt int      // tokens
	Tokens []uint32 // ids of the prompt, where they were given
	Output int      // tokens
	// MaxTokens is the bound on the answer that a policy is told (JSON:
	// max_tokens); 0 is none. The answer has Output tokens whatever it is.
	MaxTokens    int
	Session      string
	Prefix       string
	PrefixTokens int
}

// line is a Request in a file.
type line struct {
	At           float64         `json:"at"`
	Prompt       json.RawMessage `json:"prompt"`
	Output       int             `json:"output"`
	MaxTokens    int             `json:"max_tokens,omitempty"`
	Session      string          `json:"session,omitempty"`
	Prefix       string          `json:"prefix,omitempty"`
	PrefixTokens int             `json:"prefix_tokens,omitempty"`
}

// Bounds on what a trace may ask for.
const (
	mostTokens  = 1 << 20 // of a prompt, and of an answer
	mostSeconds = 1e6
)

// TraceError says which line of a trace is wrong.
type TraceError struct {
	Line int // from 1
	Err  error
}

func (e *TraceError) Error() string { return fmt.Sprintf("replay: line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *TraceError) Unwrap() error { return e.Err }

// ErrEmptyTrace says that there is no request in a trace.
var ErrEmptyTrace = errors.New("replay: no requests")

// Read reads a trace of JSON lines, in any order; empty lines are skipped. Errors of
// a line are *TraceError.
func Read(r io.Reader) (Trace, error) {
	var t Trace
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16*mostTokens)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		q, err := parse(text)
		if err != nil {
			return nil, &TraceError{n, err}
		}
		t = append(t, q)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if len(t) == 0 {
		return nil, ErrEmptyTrace
	}
	t.sort()
	return t, nil
}

// sort puts the requests in order of arrival; those that arrive together stay as
// they are.
func (t Trace) sort() {
	slices.SortStableFunc(t, func(a, b Request) int { return int(max(min(a.At-b.At, 1), -1)) })
}

// parse reads a line.
func parse(text []byte) (Request, error) {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Request{}, err
	}
	if d.More() {
		return Request{}, errors.New("more than one value")
	}
	if !(l.At >= 0 && l.At <= mostSeconds) {
		return Request{}, fmt.Errorf("at: must be 0 to %.0f seconds, is %v", mostSeconds, l.At)
	}
	q := Request{
		At: time.Duration(math.Round(l.At * 1e9)), Output: l.Output, MaxTokens: l.MaxTokens,
		Session: l.Session, Prefix: l.Prefix, PrefixTokens: l.PrefixTokens,
	}
	switch {
	case len(l.Prompt) == 0:
		return q, errors.New("prompt: is missing")
	case l.Prompt[0] == '[':
		if err := json.Unmarshal(l.Prompt, &q.Tokens); err != nil {
			return q, fmt.Errorf("prompt: %w", err)
		}
		q.Prompt = len(q.Tokens)
	default:
		if err := json.Unmarshal(l.Prompt, &q.Prompt); err != nil {
			return q, fmt.Errorf("prompt: %w", err)
		}
	}
	return q, q.check()
}

// check says what is wrong with q.
func (q *Request) check() error {
	switch {
	case q.At < 0:
		return fmt.Errorf("at: must not be negative, is %v", q.At)
	case q.Prompt < 1 || q.Prompt > mostTokens:
		return fmt.Errorf("prompt: must have 1 to %d tokens, has %d", mostTokens, q.Prompt)
	case q.Tokens != nil && len(q.Tokens) != q.Prompt:
		return fmt.Errorf("prompt: %d token ids for %d tokens", len(q.Tokens), q.Prompt)
	case q.Output < 1 || q.Output > mostTokens:
		return fmt.Errorf("output: must be 1 to %d tokens, is %d", mostTokens, q.Output)
	case q.MaxTokens < 0:
		return fmt.Errorf("max_tokens: must not be negative, is %d", q.MaxTokens)
	case q.PrefixTokens < 0 || q.PrefixTokens > q.Prompt:
		return fmt.Errorf("prefix_tokens: must be 0 to %d, the prompt's length, is %d", q.Prompt, q.PrefixTokens)
	case q.PrefixTokens > 0 && q.Prefix == "":
		return errors.New("prefix_tokens: goes with a prefix")
	}
	return nil
}

// Write writes t as JSON lines, for Read.
func (t Trace) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for i := range t {
		q := &t[i]
		var prompt any = q.Prompt
		if q.Tokens != nil {
			prompt = q.Tokens
		}
		raw, err := json.Marshal(prompt)
		if err != nil {
			return err
		}
		if err := e.Encode(line{q.At.Seconds(), raw, q.Output, q.MaxTokens, q.Session, q.Prefix, q.PrefixTokens}); err != nil {
			return err
		}
	}
	return b.Flush()
}
