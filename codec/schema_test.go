// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

func names(fields []codec.Field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Name)
	}
	return out
}

func TestFieldsAreThoseOfTheReleasesOwnClasses(t *testing.T) {
	files, err := filepath.Glob("testdata/versions/*.json")
	check(t, err)
	structs := map[string]codec.Struct{}
	for _, s := range codec.Structs() {
		structs[s.String()] = s
	}
	for _, file := range files {
		var v struct {
			Version string
			Fields  map[string][]string
		}
		readJSON(t, file, &v)
		for name, want := range v.Fields {
			s, ok := structs[name]
			if got := names(layout(t, v.Version).Fields(s)); !ok || !slices.Equal(got, want) {
				t.Errorf("%s %s: want %v, got %v", v.Version, name, want, got)
			}
		}
	}
}

func TestLayoutsAreInTheOrderOfReleases(t *testing.T) {
	all := codec.Layouts()
	if len(all) < 20 || all[0].Since() != "0.9.2" {
		t.Errorf("want 20 layouts at least, from 0.9.2 on, got %d", len(all))
	}
	for i, l := range all {
		if layout(t, l.Since()) != l {
			t.Errorf("layout %d is not that of %s", i, l.Since())
		}
	}
}

func TestFieldsOfEveryStructInEveryRelease(t *testing.T) {
	for _, l := range codec.Layouts() {
		for _, s := range codec.Structs() {
			fields := l.Fields(s)
			for i, f := range fields {
				if f.Name == "" || slices.Contains(names(fields[:i]), f.Name) {
					t.Errorf("%s %v: field %d is named %q", l.Since(), s, i, f.Name)
				}
			}
			bare := s == codec.StructUtilityResult && (l.Since() == "0.9.2" || l.Since() == "0.10.0")
			if bare != (len(fields) == 0) {
				t.Errorf("%s %v: has %d fields", l.Since(), s, len(fields))
			}
		}
	}
}

func TestOnlyTheRequiredFieldsOfARequestCannotBeCut(t *testing.T) {
	for _, l := range codec.Layouts() {
		fields := names(l.Fields(codec.StructRequest))
		if last := fields[l.Required()-1]; last != "data_parallel_rank" {
			t.Errorf("%s: the last required field is %s", l.Since(), last)
		}
	}
}

func TestAnUnknownStructHasNoFields(t *testing.T) {
	if s := codec.Struct(99); s.String() != "unknown struct" || layout(t, "0.32.0").Fields(s) != nil {
		t.Errorf("got %v", s)
	}
}
