// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// maxLine bounds a line of hexadecimal text, and with it a frame: 256 MiB.
const maxLine = 512 << 20

// ReadHex reads messages of frames in hexadecimal, a frame a line and an empty
// line between messages. It reads over blanks, colons, commas, 0x and \x between
// the digits, and lines that begin with #. It also takes frames as Python shows
// bytes, b'\x94\xc0', and as xxd and hexdump -C print them, several lines each.
// The error is a *SyntaxError or the reader's.
func ReadHex(r io.Reader) ([][][]byte, error) {
	h := &hexReader{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		h.line++
		if why := h.read(strings.TrimSpace(lines.Text())); why != "" {
			return nil, &SyntaxError{Line: h.line, Reason: why}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, &SyntaxError{Line: h.line + 1, Reason: err.Error()}
	}
	h.endMessage()
	return h.messages, nil
}

// AppendHex appends a message as ReadHex reads it: a line a frame, in lower case.
// An empty frame is a "-".
func AppendHex(dst []byte, frames [][]byte) []byte {
	for _, f := range frames {
		if len(f) == 0 {
			dst = append(dst, '-')
		}
		dst = append(hex.AppendEncode(dst, f), '\n')
	}
	return dst
}

type hexReader struct {
	line     int
	messages [][][]byte
	frames   [][]byte
	dump     bool // the last frame is a dump that goes on line by line.
}

func (h *hexReader) endMessage() {
	if h.frames != nil {
		h.messages = append(h.messages, h.frames)
	}
	h.frames, h.dump = nil, false
}

// Lines of dumps: an offset, digits, and from two blanks (or a bar) on the text.
var (
	xxdLine     = regexp.MustCompile(`^([0-9a-fA-F]{4,8}): (.*?)(?:  .*)?$`)
	hexdumpLine = regexp.MustCompile(`^([0-9a-fA-F]{7,8})  (.*?) *\|.*\|$`)
	hexdumpEnd  = regexp.MustCompile(`^[0-9a-fA-F]{7,8}$`)
)

// read takes one line in; why says what is wrong with it.
func (h *hexReader) read(line string) (why string) {
	switch {
	case line == "":
		h.endMessage()
		return ""
	case line[0] == '#':
		return ""
	case line == "-":
		h.add(nil)
		return ""
	case strings.HasPrefix(line, "b'") || strings.HasPrefix(line, `b"`):
		return h.python(line)
	}
	for _, form := range []*regexp.Regexp{xxdLine, hexdumpLine} {
		if part := form.FindStringSubmatch(line); part != nil {
			return h.dumped(part[1], part[2])
		}
	}
	if h.dump && hexdumpEnd.MatchString(line) && h.offset(line) == len(h.frames[len(h.frames)-1]) {
		h.dump = false
		return ""
	}
	b, why := digits(line)
	if why == "" {
		h.add(b)
	}
	return why
}

func (h *hexReader) add(b []byte) {
	h.frames, h.dump = append(h.frames, append([]byte{}, b...)), false
}

func (h *hexReader) offset(s string) int {
	n, err := strconv.ParseInt(s, 16, 64)
	if err != nil {
		return -1
	}
	return int(n)
}

// dumped takes a line of a dump in: offset 0 begins a frame.
func (h *hexReader) dumped(offset, text string) (why string) {
	b, why := digits(text)
	at := h.offset(offset)
	switch {
	case why != "":
		return why
	case at == 0:
		h.add(b)
		h.dump = true
		return ""
	case !h.dump || at != len(h.frames[len(h.frames)-1]):
		return fmt.Sprintf("offset %s does not go on where the last line ended", offset)
	}
	last := &h.frames[len(h.frames)-1]
	*last = append(*last, b...)
	return ""
}

// python reads a bytes literal.
func (h *hexReader) python(line string) (why string) {
	quote := line[1]
	if len(line) < 3 || line[len(line)-1] != quote {
		return "bytes literal without its end"
	}
	var b []byte
	for s := line[2 : len(line)-1]; s != ""; {
		if strings.HasPrefix(s, `\"`) || strings.HasPrefix(s, `\'`) {
			b, s = append(b, s[1]), s[2:]
			continue
		}
		c, wide, rest, err := strconv.UnquoteChar(s, 0)
		if err != nil || wide || c > 0xff {
			return "not a bytes literal"
		}
		b, s = append(b, byte(c)), rest
	}
	h.add(b)
	return ""
}

// digits reads hexadecimal digits with what may stand between them.
func digits(line string) (b []byte, why string) {
	line = strings.NewReplacer(`\x`, "", "0x", "", "0X", "").Replace(line)
	var clean bytes.Buffer
	for i, c := range line {
		switch {
		case strings.ContainsRune("0123456789abcdefABCDEF", c):
			clean.WriteRune(c)
		case !strings.ContainsRune(" \t:,", c):
			return nil, fmt.Sprintf("%q at column %d is no hexadecimal digit", c, i+1)
		}
	}
	if clean.Len()%2 != 0 {
		return nil, fmt.Sprintf("%d hexadecimal digits, an odd number", clean.Len())
	}
	b, err := hex.DecodeString(clean.String())
	if err != nil {
		return nil, err.Error()
	}
	return b, ""
}
