// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// everyRelease has the first release of each layout.
var everyRelease = []string{
	"0.9.2", "0.10.0", "0.10.1", "0.10.2", "0.11.1", "0.12.0", "0.13.0", "0.14.0", "0.15.0", "0.16.0", "0.17.0", "0.18.0", "0.19.0",
	"0.20.0", "0.20.1", "0.21.0", "0.22.0", "0.26.0", "0.27.0", "0.28.0", "0.29.0", "0.30.0", "0.31.0", "0.32.0", "0.33.0",
}

func TestThereAreTwentyLayoutsByPosition(t *testing.T) {
	positions := map[string]bool{}
	for _, release := range everyRelease {
		l := layout(t, release)
		if l.Since() != release {
			t.Errorf("%s: want a layout of its own, got that of %s", release, l.Since())
		}
		positions[l.Positions()] = true
	}
	if len(positions) != 20 || layout(t, "0.30.0").Positions() != "0.29.0" {
		t.Errorf("want 20, got %v", positions)
	}
}

func TestLayoutOfARelease(t *testing.T) {
	for release, since := range map[string]string{
		"0.9.2": "0.9.2", "0.10.1.1": "0.10.1", "0.11.0": "0.10.2", "0.18.1": "0.18.0", "0.19.1": "0.19.0", "0.25.1": "0.22.0",
		"0.12.3": "0.12.0", "0.13.0": "0.13.0", "0.27.1": "0.27.0", "0.30.0": "0.30.0",
		"0.32.0": "0.32.0", "v0.32.0": "0.32.0", "0.32.1rc1": "0.32.0", "0.32.0+cpu": "0.32.0",
		"0.32": "0.32.0", "0.31.0.dev12+g1234": "0.31.0", "0.33.0": "0.33.0", "0.99.0": "0.33.0", "1.0.0": "0.33.0",
	} {
		l, err := codec.LayoutOf(release)
		if err != nil {
			t.Errorf("%s: %v", release, err)
		} else if l.Since() != since {
			t.Errorf("%s: want the layout of %s, got %s", release, since, l.Since())
		}
	}
}

func TestLayoutIsOneForAllItsReleases(t *testing.T) {
	if layout(t, "0.32.0") != layout(t, "0.32.9") {
		t.Error("two releases of one layout give two pointers")
	}
}

func TestLayoutOfNoReleaseIsAnError(t *testing.T) {
	for _, release := range []string{"", "v", "dev", "0", "0.9.1", "0.8.5", "-1.2", "999999999999999999999.1"} {
		_, err := codec.LayoutOf(release)
		if _, ok := errors.AsType[*codec.ReleaseError](err); !ok {
			t.Errorf("%q: want a ReleaseError, got %v", release, err)
		}
	}
}

func TestLayoutsAreACopyOfTheSharedOnes(t *testing.T) {
	path := os.Getenv("COREPIPE_LAYOUTS")
	if path == "" {
		path = "../../shared/protocol/layouts.json"
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no shared layouts to compare with: %v", err)
	}
	got, err := os.ReadFile("layouts.json")
	check(t, err)
	if !bytes.Equal(want, got) {
		t.Error("layouts.json differs from the shared one: copy it and run go generate")
	}
}

func TestGeneratedTablesAreUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	text, err := os.ReadFile("layouts.json")
	check(t, err)
	check(t, os.WriteFile(dir+"/layouts.json", text, 0o600))
	wd, err := os.Getwd()
	check(t, err)
	cmd := exec.Command("go", "run", wd+"/gen/main.go", wd+"/gen/forms.go")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"layout_gen.go", "layout_fields_gen.go", "layout_forms_gen.go"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		check(t, err)
		got, err := os.ReadFile(name)
		check(t, err)
		if !bytes.Equal(want, got) {
			t.Errorf("%s is stale: run go generate", name)
		}
	}
}

func TestAnIdentityIsTheRankInTwoBytes(t *testing.T) {
	for rank, identity := range map[int]string{0: "\x00\x00", 1: "\x01\x00", 256: "\x00\x01", codec.MaxRank: "\xff\xff"} {
		got, ok := codec.RankOf(identity)
		if codec.Identity(rank) != identity || got != rank || !ok {
			t.Errorf("%d: got %q, and back %d, %v", rank, codec.Identity(rank), got, ok)
		}
	}
	for _, none := range []string{"", "a", "abc"} {
		if _, ok := codec.RankOf(none); ok {
			t.Errorf("%q is taken for an identity", none)
		}
	}
}
