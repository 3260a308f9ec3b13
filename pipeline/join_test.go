// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestAWrongJoinIsACompileErrorOnItsLine(t *testing.T) {
	build := func(dir string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, "./testdata/"+dir).CombinedOutput()
		return string(out), err
	}
	if out, err := build("rightjoin"); err != nil {
		t.Fatalf("rightjoin does not build: %v\n%s", err, out)
	}
	source, err := os.ReadFile("testdata/wrongjoin/main.go")
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for i, line := range strings.Split(string(source), "\n") {
		if strings.Contains(line, "// refused here") {
			marked = i + 1
		}
	}
	out, err := build("wrongjoin")
	at := fmt.Sprintf("main.go:%d:", marked)
	refused := false
	for line := range strings.SplitSeq(out, "\n") {
		refused = refused || strings.Contains(line, at) && strings.Contains(line, "cannot use")
	}
	if err == nil || marked == 0 || !refused {
		t.Fatalf("want a refusal at %s, got %v\n%s", at, err, out)
	}
}
