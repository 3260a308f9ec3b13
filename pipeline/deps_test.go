// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestTheCoreDependsOnLittle holds what the library's own packages pull in.
func TestTheCoreDependsOnLittle(t *testing.T) {
	const ours = "github.com/corepipe/corepipe/"
	may := map[string][]string{
		"codec":                {"codec", "github.com/shamaton/msgpack/v2"},
		"policy":               {"policy", "github.com/cespare/xxhash/v2"},
		"transport":            {"transport"},
		"transport/inproc":     {"transport"},
		"transport/zmq":        {"transport", "github.com/pebbe/zmq4"},
		"pipeline":             {"pipeline", "codec", "policy", "transport", "github.com/shamaton/msgpack/v2", "golang.org/x/sync", "github.com/cespare/xxhash/v2"},
		"pipeline/engine":      {"pipeline", "codec", "policy", "transport", "transport/inproc", "github.com/shamaton/msgpack/v2", "golang.org/x/sync", "github.com/cespare/xxhash/v2"},
		"pipeline/launch":      {"pipeline", "codec", "policy", "transport", "github.com/shamaton/msgpack/v2", "golang.org/x/sync", "github.com/cespare/xxhash/v2"},
		"pipeline/coordinator": {"pipeline", "codec", "policy", "transport", "github.com/shamaton/msgpack/v2", "golang.org/x/sync", "github.com/cespare/xxhash/v2"},
	}
	for pkg, allowed := range may {
		t.Run(pkg, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ours+pkg).Output()
			if err != nil {
				t.Fatal(err)
			}
			for dep := range strings.FieldsSeq(string(out)) {
				ok := slices.ContainsFunc(allowed, func(a string) bool {
					if !strings.Contains(a, ".") {
						a = ours + a
					}
					return dep == a || strings.HasPrefix(dep, a+"/")
				})
				if !ok {
					t.Errorf("%s depends on %s", pkg, dep)
				}
			}
		})
	}
}
