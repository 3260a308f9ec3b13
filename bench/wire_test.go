// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

const wireData = "../codec/testdata/data/"

// fed runs a command with a text on standard input.
func fed(t *testing.T, input string, args ...string) outcome {
	t.Helper()
	r := &running{T: t, Cmd: exec.CommandContext(t.Context(), plain(t), append([]string{"wire"}, args...)...)}
	r.Stdin, r.Stdout, r.Stderr = strings.NewReader(input), &r.stdout, &r.stderr
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	return r.wait()
}

// frameFiles are the frames of a fixture.
func frameFiles(t *testing.T, name string) []string {
	t.Helper()
	files, err := filepath.Glob(wireData + name + ".*.bin")
	if err != nil || len(files) == 0 {
		t.Fatalf("no frames of %s: %v", name, err)
	}
	return files
}

func TestWireDecodesAndEncodesFiles(t *testing.T) {
	for _, name := range []string{"req_mm_image", "out_all_fields", "utility_sleep", "engine_core_dead", "skew_0191_ready_input", "coord_stats"} {
		decoded := fed(t, "", append([]string{"decode"}, frameFiles(t, name)...)...)
		if decoded.code != 0 || decoded.err != "" || !json.Valid([]byte(decoded.out)) {
			t.Errorf("%s: code %d, %s%s", name, decoded.code, decoded.err, decoded.out)
		}
		encoded := fed(t, decoded.out, "encode")
		again := fed(t, encoded.out, "decode")
		if encoded.code != 0 || again.code != 0 || again.out != decoded.out {
			t.Errorf("%s: encoded %q, %s; decoded again %s%s", name, encoded.out, encoded.err, again.err, again.out)
		}
	}
}

func TestWireEncodesIntoADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	decoded := fed(t, "", append([]string{"decode"}, frameFiles(t, "req_mm_image")...)...)
	if o := fed(t, decoded.out, "encode", "--out", dir); o.code != 0 || o.out != "" {
		t.Fatalf("code %d, %s%s", o.code, o.err, o.out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.bin"))
	if err != nil || len(files) != len(frameFiles(t, "req_mm_image")) {
		t.Fatalf("got %v, %v", files, err)
	}
	if again := fed(t, "", append([]string{"decode"}, files...)...); again.out != decoded.out {
		t.Errorf("got %s%s", again.err, again.out)
	}
	if o := fed(t, decoded.out, "encode", "--out", dir); o.code != 2 || !strings.Contains(o.err, "--out: "+dir+" has .bin files") {
		t.Errorf("the second time: code %d, %s", o.code, o.err)
	}
}

func TestWireSaysWhatIsWrongWithAMessage(t *testing.T) {
	for name, c := range map[string]struct {
		input, args, want string
		code              int
	}{
		"cut":                      {"9200929 2a1619101 92a1629501", "decode --kind outputs", "outputs[1].new_token_ids: array announces 5 values", 1},
		"a request that kills":     {`{"kind": "request", "message": {"request_id": "a", "prompt_token_ids": [1], "sampling_params": {"top_p": 0}, "data_parallel_rank": null}}`, "encode", "wire: request: top_p: must be", 0},
		"another release's length": {"920091dc001300" + "90" + strings.Repeat("c0", 17), "decode --kind outputs --release 0.28.0", "outputs[0] has 19 elements, EngineCoreOutput of 0.28.0 has 16; layouts of that length: 0.33.0", 1},
		"a guessed release":        {"9800" + "91dc0010a16190" + strings.Repeat("c0", 11) + "00c0c0" + "c000c0c0c0c0", "decode", "taken for a message of 0.28.0 by its length", 0},
		"a type that kills":        {"04\n90", "decode", "type frame 04", 1},
		"a type that is another":   {"01\n90", "decode --kind request", "--kind: wire: unknown kind: the type frame 01 says abort, not request", 2},
		"a bad line":               {"00\nxx", "decode", "standard input: line 2: 'x' at column 1 is no hexadecimal digit", 2},
		"no frames":                {"\n", "decode", "standard input: wire: no frames", 2},
		"nothing to tell the kind": {"920501", "decode", "--kind: wire: unknown kind: nothing tells", 2},
		"no such kind":             {"90", "decode --kind answer", `--kind: wire: unknown kind "answer"`, 2},
		"no such release":          {"90", "decode --kind outputs --release 0.1.0", "--release: codec: vllm release 0.1.0", 2},
		"no such file":             {"", "decode /no/such/file", "no such file", 2},
		"bad JSON":                 {"{\n]", "encode", "standard input: line 2: not JSON", 2},
		"no such field":            {`{"kind": "request", "message": {"prompt": 1}}`, "encode", `no field of EngineCoreRequest is named "prompt"`, 2},
		"layouts of no release":    {"", "layouts --release x", "--release: codec: vllm release x", 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := fed(t, c.input, strings.Fields(c.args)...)
			if o.code != c.code || !strings.Contains(o.err, c.want) {
				t.Errorf("code %d, error %s, output %s; want %d and %q", o.code, o.err, o.out, c.code, c.want)
			}
		})
	}
}

func TestWireReadsSeveralMessages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "capture.txt")
	if err := os.WriteFile(file, []byte("0100\n01\n91a161\n\n01\n91a162\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := fed(t, "", "decode", "--hex", file)
	want := `{"kind": "abort", "identity": "0100", "type": "01", "message": ["a"]}
{"kind": "abort", "type": "01", "message": ["b"]}
`
	if o.code != 0 || o.out != want {
		t.Errorf("code %d, %s%s", o.code, o.err, o.out)
	}
	if back := fed(t, o.out, "encode"); back.out != "0100\n01\n91a161\n\n01\n91a162\n" {
		t.Errorf("got %s%s", back.err, back.out)
	}
}

func TestWireBrief(t *testing.T) {
	o := fed(t, "", append([]string{"decode", "--brief"}, frameFiles(t, "out_logprobs_aux")...)...)
	if o.code != 0 || strings.Contains(o.out, "null") || !strings.Contains(o.out, `{"dtype": "<f4", "shape": [4, 21], "frame": 2, "bytes": 336}`) {
		t.Errorf("code %d, %s%s", o.code, o.err, o.out)
	}
	if back := fed(t, o.out, "encode"); back.code != 2 || !strings.Contains(back.err, "--brief") {
		t.Errorf("code %d, %s", back.code, back.err)
	}
}

func TestWireLayouts(t *testing.T) {
	for args, want := range map[string]string{
		"":                        "0.28.0       21      16        8     7       10               4                 4               2",
		"--release 0.28.0":        "10  prompt_is_token_ids      null",
		"--json":                  `"EngineCoreOutput": 16`,
		"--release 0.29.1 --json": `"since": "0.29.0"`,
	} {
		o := fed(t, "", append([]string{"layouts"}, strings.Fields(args)...)...)
		if o.code != 0 || o.err != "" || !strings.Contains(o.out, want) || strings.Contains(args, "json") != json.Valid([]byte(o.out)) {
			t.Errorf("%s: code %d, no %q in %s%s", args, o.code, want, o.err, o.out)
		}
	}
}

func TestWireHelpNamesTheRelease(t *testing.T) {
	o := fed(t, "", "decode", "--help")
	if o.code != 0 || !strings.Contains(strings.Join(strings.Fields(o.out), " "), "Default: "+codec.DefaultRelease+",") {
		t.Errorf("code %d, %s%s", o.code, o.err, o.out)
	}
}
