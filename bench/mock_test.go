// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main_test

import (
	"fmt"
	"os/exec"
	"strconv"
	"testing"
)

// COREPIPE_MOCK is the path of a mock_engine, a stand-in for engines in C that
// shares no line with ours.
func TestEveryTokenOfTheMockEngineIsRight(t *testing.T) {
	mock := given(t, "COREPIPE_MOCK")
	for _, transport := range []string{"ipc", "tcp"} {
		for _, engines := range []int{1, 4} {
			t.Run(fmt.Sprintf("transport=%s/engines=%d", transport, engines), func(t *testing.T) {
				endpoint, _ := freeTCP(t)
				if transport == "ipc" {
					endpoint = "ipc://" + t.TempDir() + "/h"
				}
				background(t, exec.Command(mock, "--handshake", endpoint, "--engines", strconv.Itoa(engines), "--max-seconds", "300"))
				r := execute(t, withZMQ(t), "--handshake", endpoint, "--engines", strconv.Itoa(engines), "--requests", "3000",
					"--verify", "--vocab", "128000", "--json", "-").result(t)
				if r.Done != 3000 || r.Failed != 0 || r.OutputTokens != 96000 || len(r.Engines) != engines {
					t.Errorf("got %+v", r)
				}
				if r.Transport != transport || r.CPUScope != "client" {
					t.Errorf("got %+v", r)
				}
			})
		}
	}
}

func TestAWrongTokenOfTheMockEngineIsNoticed(t *testing.T) {
	mock := given(t, "COREPIPE_MOCK")
	endpoint := "ipc://" + t.TempDir() + "/h"
	background(t, exec.Command(mock, "--handshake", endpoint, "--max-seconds", "300"))
	o := execute(t, withZMQ(t), "--handshake", endpoint, "--requests", "10", "--verify", "--vocab", "127999", "--json", "-")
	if r := o.decode(t); o.code != 1 || r.Failed == 0 {
		t.Errorf("code %d, got %+v", o.code, r)
	}
}
