// SPDX-License-Identifier: Apache-2.0

//go:build ignore

package main

import (
	"fmt"
	"log"
	"slices"
	"strconv"
	"strings"
)

// scalarsOf are the values that follow from the form of a struct.
func scalarsOf(field string, at entry) string {
	switch field {
	case "request":
		need := 0
		for _, f := range at.Fields {
			if f[2] == nil {
				need++
			}
		}
		return fmt.Sprintf("need: %d, %s", need, usual(at.Fields))
	case "output":
		return fmt.Sprintf("plain: \"%s\", ", plain(at.Fields))
	case "lists":
		if strings.HasPrefix(*at.Fields[0][1], "list[list") {
			return "nestedLogprobs: true, "
		}
	}
	return ""
}

func slotsOf(at entry) string {
	var b strings.Builder
	b.WriteString("[]slot{")
	for _, f := range at.Fields {
		fmt.Fprintf(&b, "{%s, %#02x}, ", constant(*f[0]), zero(f))
	}
	return b.String() + "}"
}

func (t *tables) set(at entry) string {
	bits := make([]uint64, (len(t.names)+63)/64)
	for _, f := range at.Fields {
		i := slices.Index(t.names, *f[0])
		bits[i/64] |= 1 << (i % 64)
	}
	text := make([]string, len(bits))
	for i, v := range bits {
		text[i] = fmt.Sprintf("%#x", v)
	}
	return "fieldSet{" + strings.Join(text, ", ") + "}"
}

func list(at entry) string {
	var b strings.Builder
	b.WriteString("[]string{")
	for _, f := range at.Fields {
		fmt.Fprintf(&b, "%q, ", *f[0])
	}
	return b.String() + "}"
}

// plain is what follows the tokens of an output that has nothing else.
func plain(fields [][3]*string) string {
	var b strings.Builder
	for _, f := range fields[2:] {
		fmt.Fprintf(&b, "\\x%02x", zero(f))
	}
	return b.String()
}

// usual is what stands between the fields of a request that has no rare ones: after
// the prompt, the sampling parameters, the arrival time and the priority. Before
// 0.17.0 there is a field that follows from the sampling parameters.
func usual(fields [][3]*string) string {
	var between [4]strings.Builder
	part := -1
	for _, f := range fields {
		switch *f[0] {
		case "eos_token_id":
			return ""
		case "prompt_token_ids", "sampling_params", "arrival_time", "client_index":
			part++
		case "request_id", "current_wave", "priority":
		default:
			fmt.Fprintf(&between[part], "\\x%02x", zero(f))
		}
	}
	return fmt.Sprintf("usual: [4]string{\"%s\", \"%s\", \"%s\", \"%s\"}, ", &between[0], &between[1], &between[2], &between[3])
}

// zero is the one byte that the default of a field takes on the wire.
func zero(f [3]*string) byte {
	value := ""
	if f[2] != nil {
		value = *f[2]
	}
	switch {
	case strings.Contains(*f[1], "None") || strings.HasPrefix(*f[1], "Optional") || value == "None":
		return 0xc0
	case *f[1] == "bool":
		return 0xc2
	case *f[1] == "str":
		return 0xa0
	case strings.HasPrefix(*f[1], "list"):
		return 0x90
	case *f[1] == "RequestOutputKind":
		return 0x02 // FINAL_ONLY
	case *f[1] == "int" || *f[1] == "float":
		return 0x00
	case f[2] == nil:
		return 0xc0 // required: it is always written from the message.
	}
	log.Fatalf("%s: %s has no default that is known here: %s", *f[0], *f[1], value)
	return 0
}

func constant(name string) string {
	var b strings.Builder
	b.WriteByte('f')
	if name[0] == '_' {
		b.WriteString("Own") // a name of the class's own.
	}
	for _, part := range strings.Split(name, "_") {
		if part == "ids" {
			part = "IDs"
		}
		if part == "id" || part == "kv" || part == "mm" || part == "ec" {
			part = strings.ToUpper(part)
		}
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

func compare(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, err := strconv.Atoi(x[i])
		if err != nil {
			log.Fatal(err)
		}
		n, err := strconv.Atoi(y[i])
		if err != nil {
			log.Fatal(err)
		}
		if m != n {
			return m - n
		}
	}
	return len(x) - len(y)
}
