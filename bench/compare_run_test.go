// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"
)

func TestTheRawFeedIsDrivenFromTheCommandLine(t *testing.T) {
	r := execute(t, plain(t), "--raw", "--requests", "500", "--abort", "3", "--verify", "--id-prefix", "mine", "--json", "-").result(t)
	if r.Done != 497 || r.Aborted != 3 || r.Failed != 0 || r.Messages == 0 || r.TTFT.P50 <= 0 {
		t.Errorf("got %+v", r)
	}
}

func TestFlagsThatTheRawFeedHasNoUseForAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--raw --stream-interval 4": "--stream-interval: is of streams",
		"--attach --input ipc:///a --output ipc:///b --policy round-robin,least-loaded --id-prefix mine": "--id-prefix: would come twice",
	} {
		if o := execute(t, plain(t), strings.Fields(args)...); o.code != 2 || !strings.Contains(o.err, want) {
			t.Errorf("%s: got code %d, error %q", args, o.code, o.err)
		}
	}
}
