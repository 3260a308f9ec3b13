// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo && linux

package main_test

import (
	"os"
	"testing"
)

func TestCurvesOverIPCAreOfTheClientAlone(t *testing.T) {
	directory := emptyTemp(t)
	s := execute(t, withZMQ(t), "scale", "--quick", "--rounds", "1", "--curve", "engines-total,aux", "--json", "-").scaled(t)
	if s.Transport != "ipc" || s.Scope != "client" || len(s.Curves) != 2 {
		t.Fatalf("got %+v", s)
	}
	for i := range s.Curves {
		s.Curves[i].check(t, 1)
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
}
