// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/corepipe/corepipe/transport"
)

// names makes up addresses for one Client.
type names struct {
	bind string // Config.Bind
	base string // of ipc paths
}

// maxBase leaves room for "-out65535" in the 107 bytes of a socket path.
const maxBase = 90

func newNames(bind string) (names, error) {
	if bind != "ipc" {
		if _, err := transport.ParseEndpoint(bind, true); err != nil {
			return names{}, err
		}
		if !strings.HasPrefix(bind, "tcp://") {
			return names{}, &ConfigError{"Bind", `must be "ipc" or a tcp address, is "` + bind + `"`}
		}
	}
	name := "corepipe-" + strings.ToLower(rand.Text()[:13])
	base := filepath.Join(os.TempDir(), name)
	if len(base) > maxBase {
		base = filepath.Join("/tmp", name)
	}
	return names{bind: bind, base: base}, nil
}

func (n names) address(part string) string {
	if n.bind == "ipc" {
		return "ipc://" + n.base + "-" + part
	}
	return n.bind
}
