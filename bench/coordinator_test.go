// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"
)

func TestACoordinatorThatMakesNoSenseIsRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--engines 0":                       "--engines: must be 1 to 65536",
		"--engines 65537":                   "--engines: must be 1 to 65536",
		"--front nowhere":                   "--front: transport: endpoint",
		"--back-publish inproc://x":         "--back-publish: inproc://x ends at",
		"--back-output tcp://1.2.3.4:99999": "--back-output: transport: endpoint",
		"--release 0.1":                     "--release:",
	} {
		o := execute(t, plain(t), append([]string{"coordinator"}, strings.Fields(args)...)...)
		if o.code != 2 || o.out != "" || !strings.Contains(o.err, want) {
			t.Errorf("%s: got code %d, output %q, error %q; want 2 and %q", args, o.code, o.out, o.err, want)
		}
	}
}

func TestACoordinatorWithoutZMQSaysHowToGetIt(t *testing.T) {
	o := execute(t, plain(t), "coordinator", "--engines", "2")
	if o.code != 1 || !strings.Contains(o.err, "install libzmq3-dev and pkg-config, then: go run -tags zmq ./bench") {
		t.Errorf("got code %d, error %q", o.code, o.err)
	}
}
