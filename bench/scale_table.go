// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"
)

// scaleReport is what the command writes as JSON.
type scaleReport struct {
	Rounds int  `json:"rounds"` // asked for
	Quick  bool `json:"quick"`  // then the numbers mean nothing
	machine
	Transport string   `json:"transport"`
	Scope     string   `json:"cpu_scope"`    // "client", or "process" when the engines are in it
	StepTime  float64  `json:"step_time_us"` // µs
	Curves    []*curve `json:"curves"`
}

func newScaleReport(c *scaleCmd) *scaleReport {
	r := &scaleReport{
		Rounds: c.Rounds, Quick: c.Quick, machine: thisMachine(),
		Transport: c.Transport, Scope: "client", StepTime: float64(c.StepTime.Nanoseconds()) / 1e3,
	}
	if c.Transport == "inproc" {
		r.Scope = "process"
	}
	return r
}

// legend says how to read the tables.
func (r *scaleReport) legend() string {
	whose := "the client's process"
	if r.Scope == "process" {
		whose = "the process that client and engines are in"
	}
	text := fmt.Sprintf("%s, steps of %s µs, %d CPUs. Medians of the rounds; ratios are those of each round: the median, least–most.\n"+
		"CPU, memory (what Go has taken from the system) and open files are those of %s.", r.Transport, number(r.StepTime), r.CPUs, whose)
	if r.Quick {
		text += "\n--quick: the numbers are noise."
	}
	return text
}

// table has a line for each point.
func (v *curve) table() *table {
	t := &table{title: fmt.Sprintf("%s: %s; rounds: %d", v.Name, v.About, v.full())}
	head := []string{v.Axis, v.Unit, "to the first", "to the one before"}
	sized := v.sized()
	if sized {
		head = append(head, "of what was added")
	}
	head = append(head, "CPU µs/request", "requests/s", "tokens/message")
	if v.Axis == auxBytes {
		head = append(head, "MB/s")
	}
	t.rows = [][]string{append(head, "allocated B/request", "memory, MB", "open files")}
	for _, p := range v.Points {
		m := p.Median
		row := []string{v.label(p.At), number(m.Cost), ratio(p.ToFirst), ratio(p.ToBefore)}
		if sized && p.Added != nil {
			row = append(row, signed(p.Added.Median))
		} else if sized {
			row = append(row, "")
		}
		row = append(row, number(m.CPURequest), number(m.RequestsPerSecond), number(m.TokensPerMessage))
		if v.Axis == auxBytes {
			row = append(row, number(m.Megabytes))
		}
		t.rows = append(t.rows, append(row, number(m.Allocated), number(m.Memory/1e6), count(m.OpenFiles)))
	}
	return t
}

// sized says that the size of a request is what grows.
func (v *curve) sized() bool {
	for _, p := range v.Points {
		if p.Added != nil {
			return true
		}
	}
	return false
}

func ratio(s *spread) string {
	if s == nil {
		return ""
	}
	return s.String()
}

// inWords has how far rounds are apart in brackets.
func inWords(s *spread) string {
	middle, apart, _ := strings.Cut(s.String(), " ")
	if apart == "" {
		return middle
	}
	return middle + " (" + apart + ")"
}

// count is a number of things.
func count(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

// signed is a number that noise may have made negative.
func signed(v float64) string {
	if v < 0 {
		return "−" + number(-v)
	}
	return number(v)
}

// label is a value on the axis.
func (v *curve) label(at int) string {
	switch {
	case v.Axis == auxBytes && at >= mib && at%mib == 0:
		return strconv.Itoa(at/mib) + " Mi"
	case v.Axis == auxBytes && at >= 1<<10 && at%(1<<10) == 0:
		return strconv.Itoa(at>>10) + " Ki"
	}
	return strconv.Itoa(at)
}

// verdict says what is to be seen: how far the cost went, where it jumped, and whether
// files follow it.
func (v *curve) verdict() string {
	said := v.ends()
	cliffs := 0
	for i, p := range v.Points {
		if p.Cliff {
			cliffs++
			said = append(said, fmt.Sprintf("CLIFF at %s: %s the cost of %s.", v.label(p.At), inWords(p.ToBefore), v.label(v.Points[i-1].At)))
		}
	}
	if cliffs == 0 {
		said = append(said, fmt.Sprintf("No cliffs: no point costs more than %d times the one before.", maxStepUp))
	}
	return strings.Join(append(said, v.files()...), "\n")
}

// ends compares the last point with the first, and with the cheapest: the first ones may
// be dear for what each message or request costs by itself.
func (v *curve) ends() (said []string) {
	first, last, cheapest := v.Points[0], v.Points[len(v.Points)-1], v.cheapest()
	if last != first {
		said = append(said, fmt.Sprintf("%s %s: %s the cost of %s.", v.label(last.At), v.Axis, inWords(last.ToFirst), v.label(first.At)))
	}
	if cheapest != first && cheapest != last {
		said = append(said, fmt.Sprintf("%s %s: %s the cost of %s, the cheapest.", v.label(last.At), v.Axis, inWords(last.ToCheapest), v.label(cheapest.At)))
	}
	return said
}

// files says whether open files follow what grows.
func (v *curve) files() (said []string) {
	least, most := v.Points[0].Median.OpenFiles, 0.0
	for _, p := range v.Points {
		least, most = min(least, p.Median.OpenFiles), max(most, p.Median.OpenFiles)
	}
	if most > least {
		said = append(said, fmt.Sprintf("Open files: %s to %s.", count(least), count(most)))
	} else if most > 0 {
		said = append(said, fmt.Sprintf("Open files: %s at all points.", count(most)))
	}
	return said
}
