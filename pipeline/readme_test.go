// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var block = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// TestReadme holds each code block of the README to be part of a file that is
// compiled, and each command to be one that CI runs.
func TestReadme(t *testing.T) {
	readme := contents(t, "../README.md")
	var compiled string
	for _, pattern := range []string{"testdata/hello/*.go", "testdata/snippets/*.go", "*_test.go", "../policy/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, f := range files {
			compiled += contents(t, f)
		}
	}
	ci := contents(t, "../.ci/run")
	blocks := block.FindAllStringSubmatch(readme, -1)
	if len(blocks) < 7 {
		t.Fatalf("%d blocks: the README has changed its form", len(blocks))
	}
	for _, b := range blocks {
		switch language, text := b[1], b[2]; language {
		case "go":
			if !strings.Contains(compiled, text) {
				t.Errorf("this block is compiled nowhere:\n%s", text)
			}
		case "sh":
			for line := range strings.Lines(text) {
				if !strings.Contains(ci, strings.TrimSpace(line)) {
					t.Errorf("CI does not run %s", line)
				}
			}
		default:
			t.Errorf("a block of %q is not checked", language)
		}
	}
}

func TestReadmeProgramRuns(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "run", "./testdata/hello").CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "length <nil>\n") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestSnippetsCompile(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "vet", "-tags", tags, "./testdata/snippets").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func contents(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
