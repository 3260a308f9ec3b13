// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// SyntaxError says where a text is not what it should be: JSON, or frames in
// hexadecimal.
type SyntaxError struct {
	// Line counts from 1.
	Line int
	// Reason is what was found there.
	Reason string
}

// Error gives "line 3: …".
func (e *SyntaxError) Error() string { return "line " + strconv.Itoa(e.Line) + ": " + e.Reason }

// maxJSONDepth is enough for any payload: a map with keys that are no strings
// takes three levels.
const maxJSONDepth = 3*maxDepth + 8

// documents reads all JSON documents of a text. At values has the line instead
// of a byte.
func documents(b []byte) ([]value, error) {
	p := &parser{b: b, d: json.NewDecoder(bytes.NewReader(b))}
	p.d.UseNumber()
	var all []value
	for {
		v, err := p.value(0)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

type parser struct {
	b []byte
	d *json.Decoder
}

func (p *parser) line() int {
	at := min(int(p.d.InputOffset()), len(p.b))
	return 1 + bytes.Count(p.b[:at], []byte{'\n'})
}

func (p *parser) fail(format string, args ...any) error {
	return &SyntaxError{Line: p.line(), Reason: fmt.Sprintf(format, args...)}
}

// value reads one value; io.EOF is no value where one may be missing.
func (p *parser) value(depth int) (value, error) {
	t, err := p.d.Token()
	if errors.Is(err, io.EOF) && depth == 0 {
		return value{}, io.EOF
	}
	if err != nil {
		return value{}, p.syntax(err)
	}
	v := value{at: p.line()}
	switch t := t.(type) {
	case nil:
	case bool:
		v.kind = boolean
		if t {
			v.bits = 1
		}
	case string:
		v.kind, v.bytes = text, []byte(t)
	case json.Number:
		return p.number(v, t.String())
	case json.Delim:
		if depth > maxJSONDepth {
			return v, p.fail("nested deeper than %d", maxJSONDepth)
		}
		v.kind = array
		if t == '{' {
			v.kind = mapping
		}
		return p.elements(v, depth)
	}
	return v, nil
}

func (p *parser) syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.fail("the JSON ends in the middle")
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := min(max(int(s.Offset), 0), len(p.b))
		return &SyntaxError{Line: 1 + bytes.Count(p.b[:at], []byte{'\n'}), Reason: "not JSON: " + s.Error()}
	}
	return p.fail("not JSON: %v", err)
}

func (p *parser) elements(v value, depth int) (value, error) {
	seen := map[string]bool{}
	for p.d.More() {
		x, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		if v.kind == mapping && len(v.list)%2 == 0 {
			if seen[x.string()] {
				return v, p.fail("key %q twice in an object", x.string())
			}
			seen[x.string()] = true
		}
		v.list = append(v.list, x)
	}
	if _, err := p.d.Token(); err != nil {
		return v, p.syntax(err)
	}
	return v, nil
}

func (p *parser) number(v value, s string) (value, error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return v, p.fail("%s does not fit a 64-bit float", s)
		}
		x := floatOf(f)
		x.at = v.at
		return x, nil
	}
	if n, err := strconv.ParseUint(strings.TrimPrefix(s, "-"), 10, 64); err == nil && (n == 0 || s[0] != '-') {
		v.kind, v.bits = natural, n
		return v, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return v, p.fail("%s does not fit 64 bits", s)
	}
	v.kind, v.bits = negative, uint64(n)
	return v, nil
}
