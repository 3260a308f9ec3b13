// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package load

import "time"

// cpuTime is not known here; Result.CPU is then 0.
func cpuTime() time.Duration { return 0 }
