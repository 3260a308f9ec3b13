// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/corepipe/corepipe/codec"
)

// restorer turns what shower made back into a payload and its tensor frames.
type restorer struct {
	release string
	fill    bool // structs in full length.
	frames  map[int][]byte
	last    int // the highest frame.
	path    []string
	line    int
}

// fail names the place; the last step of the path is the innermost.
func (r *restorer) fail(format string, args ...any) error {
	where := strings.TrimPrefix(strings.Join(r.path, ""), ".")
	if where != "" {
		where += ": "
	}
	return &SyntaxError{Line: r.line, Reason: where + fmt.Sprintf(format, args...)}
}

// into restores one step further in.
func (r *restorer) into(step string, f *form, v *value) (value, error) {
	r.path = append(r.path, step)
	out, err := r.restore(f, v)
	if err == nil {
		r.path = r.path[:len(r.path)-1]
	}
	return out, err
}

func (r *restorer) restore(f *form, v *value) (value, error) {
	r.line = v.at
	switch {
	case v.kind == array:
		return r.elements(f, v)
	case v.kind != mapping:
		return *v, nil
	case len(v.list) > 0 && tags[v.list[0].string()]:
		return r.tagged(v)
	case f != nil && f.fields != nil:
		return r.object(f, v)
	}
	out := value{kind: mapping}
	for i := 0; i < len(v.list); i += 2 {
		inner, name := f.step(v, i+1)
		x, err := r.into(name, inner, &v.list[i+1])
		if err != nil {
			return out, err
		}
		out.list = append(out.list, v.list[i], x)
	}
	return out, nil
}

// elements restores an array; where it stands for a struct, it has no names.
func (r *restorer) elements(f *form, v *value) (value, error) {
	var inner *form
	if f != nil {
		inner = f.each
	}
	out := value{kind: array}
	for i := range v.list {
		x, err := r.into("["+strconv.Itoa(i)+"]", inner, &v.list[i])
		if err != nil {
			return out, err
		}
		out.list = append(out.list, x)
	}
	return out, nil
}

// object restores a positional struct: up to the last field that is named, or in
// full. Fields that are not named in between have their defaults.
func (r *restorer) object(f *form, v *value) (value, error) {
	given := make([]*value, len(f.fields))
	end := 0
	var extra *value
	for i := 0; i < len(v.list); i += 2 {
		name, x := v.list[i].string(), &v.list[i+1]
		k := slices.IndexFunc(f.fields, func(s slot) bool { return s.name == name })
		switch {
		case name == "extra":
			extra = x
		case k >= 0:
			given[k], end = x, max(end, k+1)
		case !f.drop(name, x):
			r.line = x.at
			return value{}, r.fail("%s", f.unknown(name, r.release))
		}
	}
	if extra != nil || r.fill && f.layout != nil {
		end = len(f.fields)
	}
	out := value{kind: array}
	for i, s := range f.fields[:end] {
		if given[i] == nil {
			zero, _ := read([]byte{s.zero})
			out.list = append(out.list, zero)
			continue
		}
		x, err := r.into("."+s.name, s.form, given[i])
		if err != nil {
			return out, err
		}
		out.list = append(out.list, x)
	}
	return r.extra(out, extra)
}

func (r *restorer) extra(out value, extra *value) (value, error) {
	if extra == nil {
		return out, nil
	}
	if extra.kind != array {
		return out, r.fail("extra: array expected")
	}
	more, err := r.into(".extra", nil, extra)
	out.list = append(out.list, more.list...)
	return out, err
}

// drop reports whether a field that this release lacks says nothing: what was
// shown of one release can be encoded for another.
func (f *form) drop(name string, v *value) bool {
	if len(f.releasesWith(name)) == 0 {
		return false
	}
	switch v.kind {
	case null:
		return true
	case natural, boolean:
		return v.bits == 0
	case text, array:
		return len(v.bytes)+len(v.list) == 0
	}
	return false
}

func (f *form) unknown(name, release string) string {
	with := f.releasesWith(name)
	switch {
	case f.layout == nil:
		return fmt.Sprintf("no field is named %q here", name)
	case len(with) == 0:
		return fmt.Sprintf("no field of %s is named %q", f.title, name)
	}
	return fmt.Sprintf("%s of %s has no %q (layouts that have it: %s)", f.title, release, name, strings.Join(with, ", "))
}

// releasesWith are the layouts in which the struct has a field.
func (f *form) releasesWith(name string) (all []string) {
	for _, s := range codec.Structs() {
		if f.layout == nil || s.String() != f.title {
			continue
		}
		for _, l := range codec.Layouts() {
			if slices.ContainsFunc(l.Fields(s), func(x codec.Field) bool { return x.Name == name }) {
				all = append(all, l.Since())
			}
		}
	}
	return all
}
