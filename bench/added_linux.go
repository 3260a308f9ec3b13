// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// stampClock tells the time of an engine's stamp, which is seconds of the monotonic
// clock that all processes of a machine share.
func stampClock() func(stamp float64) time.Time {
	var now unix.Timespec
	base := time.Now()
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return nil
	}
	return func(stamp float64) time.Time {
		return base.Add(time.Duration(stamp*1e9) - time.Duration(now.Nano()))
	}
}
