// SPDX-License-Identifier: Apache-2.0

package load

import (
	"os"
	"runtime"
	"time"
)

// usage is what this process has taken, of which measurements are differences.
type usage struct {
	cpu       time.Duration
	allocated uint64 // bytes, those freed since too
	memory    uint64 // bytes that the runtime has from the system, now
}

func used() usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{cpuTime(), m.TotalAlloc, m.Sys}
}

// since is what was taken after u.
func (u usage) since() usage {
	cpu := cpuTime() - u.cpu // before more is taken to find out the rest
	now := used()
	return usage{cpu, now.allocated - u.allocated, now.memory}
}

// submitted takes note that the i-th request is on its way. With the last one as many
// are live as ever will be.
func (l *loop) submitted(i int) {
	if i == l.requests-1 {
		l.files = openFiles()
	}
}

// openFiles is how many file descriptors this process has, 0 where there is no list.
func openFiles() int {
	list, err := os.ReadDir("/dev/fd")
	if err != nil {
		return 0
	}
	return len(list) - 1 // without the one that the list was read from
}
