// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/bench/load"
	"github.com/corepipe/corepipe/codec"
)

// codecJSON is the JSON of bench codec. The keys are a promise: add to them, change none.
type codecJSON struct {
	Release string          `json:"release"`
	Seconds float64         `json:"seconds"`
	Rounds  int             `json:"rounds"`
	CPUs    int             `json:"cpus"`
	Go      string          `json:"go"`
	Results []codecMeasured `json:"results"`
}

type codecMeasured struct {
	Mode       string         `json:"mode"`
	Message    string         `json:"message"`
	Tokens     int            `json:"tokens"`
	Bytes      int            `json:"message_bytes"`
	Operations int64          `json:"operations"`
	Batch      int            `json:"operations_per_sample"`
	Nanos      load.Quantiles `json:"ns_per_operation"`
	Mean       float64        `json:"mean_ns_per_operation"`
	PerToken   float64        `json:"ns_per_token"`
	Megabytes  float64        `json:"mb_per_s"`
	Allocs     float64        `json:"allocs_per_operation"`
	Allocated  float64        `json:"allocated_bytes_per_operation"`
	ByRound    []float64      `json:"p50_ns_by_round"`
}

// measureCodec runs the command for a moment.
func measureCodec(t *testing.T, args ...string) outcome {
	t.Helper()
	return execute(t, plain(t), append([]string{"codec", "--seconds", "0.01", "--rounds", "2"}, args...)...)
}

func (o outcome) codec(t *testing.T) (c codecJSON) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(o.out))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); o.code != 0 || o.err != "" || err != nil || d.More() {
		t.Fatalf("code %d, %v, error %q, output %q", o.code, err, o.err, o.out)
	}
	return c
}

// wellFormed checks what any measurement has.
func (m *codecMeasured) wellFormed(t *testing.T) {
	t.Helper()
	n := m.Nanos
	if n.P50 <= 0 || n.P90 < n.P50 || n.P99 < n.P90 || m.Mean <= 0 || m.Megabytes <= 0 {
		t.Errorf("no times, or percentiles that fall: %+v", m)
	}
	if m.Operations < 100 || m.Batch < 1 || m.Bytes < m.Tokens || len(m.ByRound) != 2 {
		t.Errorf("too little was measured: %+v", m)
	}
	if d := m.PerToken*float64(m.Tokens)/m.Mean - 1; d < -0.01 || d > 0.01 {
		t.Errorf("%v ns a token and %v ns a message do not agree: %+v", m.PerToken, m.Mean, m)
	}
}

func TestX6EncodingAndDecodingAreMeasuredAlone(t *testing.T) {
	for _, c := range []struct {
		mode, flag, message string
		allocs              float64 // the tokens of a step are its readers'
	}{{"encode", "--prompt-tokens", "request", 0}, {"decode", "--rows", "outputs", 1}} {
		t.Run(c.mode, func(t *testing.T) {
			r := measureCodec(t, "--mode", c.mode, c.flag, "1,1000", "--json", "-").codec(t)
			if len(r.Results) != 2 || r.Release != codec.DefaultRelease || r.Rounds != 2 || r.CPUs < 1 || r.Go == "" {
				t.Fatalf("got %+v", r)
			}
			for i, tokens := range []int{1, 1000} {
				m := r.Results[i]
				m.wellFormed(t)
				if m.Mode != c.mode || m.Message != c.message || m.Tokens != tokens || m.Allocs < c.allocs || m.Allocs > c.allocs+0.1 {
					t.Errorf("got %+v, want %s of %d tokens with %v allocations", m, c.mode, tokens, c.allocs)
				}
			}
			if small, large := r.Results[0], r.Results[1]; large.Nanos.P50 < 2*small.Nanos.P50 || large.Batch >= small.Batch {
				t.Errorf("1000 tokens take as long as one: %+v and %+v", small, large)
			}
		})
	}
}

func TestX6PercentilesOfARunInMemoryAreJSON(t *testing.T) {
	percentiles(t, plain(t), "inproc")
}

// percentiles runs the benchmark, whose engines have no model.
func percentiles(t *testing.T, path, transport string) {
	t.Helper()
	o := execute(t, path, "--transport", transport, "--requests", "500", "--json", "-")
	r := o.result(t)
	for name, q := range map[string]load.Quantiles{"ttft_ms": r.TTFT, "itl_ms": r.ITL, "e2e_ms": r.E2E} {
		if q.P50 <= 0 || q.P90 < q.P50 || q.P99 < q.P90 || !strings.Contains(o.out, `"`+name+`": {`) {
			t.Errorf("%s: %s are %+v in %s", transport, name, q, o.out)
		}
	}
	if r.Done != 500 || r.Transport != transport {
		t.Errorf("got %+v", r)
	}
}

func TestCodecPrintsATableOfBothModes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "codec.json")
	o := measureCodec(t, "--json", file)
	for _, want := range []string{
		"ns p50", "p99", "ns/token", "MB/s", "allocations", "encode a request of 128 tokens", "encode a request of 4096 tokens",
		"decode a step of 1 row ", "decode a step of 64 rows", "decode a step of 256 rows",
	} {
		if o.code != 0 || !strings.Contains(o.out, want) {
			t.Errorf("code %d, no %q in %s%s", o.code, want, o.out, o.err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if r := (outcome{out: string(b)}).codec(t); len(r.Results) != 5 {
		t.Errorf("got %+v", r)
	}
}

func TestCodecSpeaksEveryRelease(t *testing.T) {
	for _, l := range codec.Layouts() {
		r := measureCodec(t, "--release", l.Since(), "--seconds", "0.001", "--prompt-tokens", "8", "--rows", "8", "--json", "-").codec(t)
		if len(r.Results) != 2 || r.Release != l.Since() {
			t.Errorf("%s: got %+v", l.Since(), r)
		}
	}
}

func TestCodecRefusesFlagsThatMakeNoSense(t *testing.T) {
	for name, c := range map[string]struct{ args, want string }{
		"an unknown mode":               {"--mode encode,both", `--mode: "both" is not encode or decode`},
		"no prompt":                     {"--prompt-tokens 128,0", "--prompt-tokens: must be 1 to 1048576, is 0"},
		"a prompt that is none":         {"--prompt-tokens many", "--prompt-tokens"},
		"no rows":                       {"--rows 0", "--rows: must be 1 to 65536, is 0"},
		"too many rows":                 {"--rows 65537", "--rows: must be 1 to 65536"},
		"prompts where none is sent":    {"--mode decode --prompt-tokens 1", "--prompt-tokens: is for --mode encode"},
		"rows where none is read":       {"--mode encode --rows 1", "--rows: is for --mode decode"},
		"a release that is none":        {"--release 0.1.0", "--release:"},
		"no time":                       {"--seconds 0", "--seconds: must be more than 0"},
		"a time that is no number":      {"--seconds NaN", "--seconds: must be more than 0"},
		"no round":                      {"--rounds 0", "--rounds: must be 1 to 1000"},
		"no place for the result":       {"--json /nowhere/at/all.json", "--json: open"},
		"no place for a profile":        {"--cpu-profile /nowhere/at/all", "--cpu-profile: open"},
		"flags of another command":      {"--engines 4", "--engines"},
		"something that is no flag":     {"encode", "encode"},
		"a transport, of which is none": {"--transport ipc", "--transport"},
	} {
		t.Run(name, func(t *testing.T) {
			o := execute(t, plain(t), append([]string{"codec"}, strings.Fields(c.args)...)...)
			if o.code != 2 || o.out != "" || !strings.HasPrefix(o.err, "bench: ") || !strings.Contains(o.err, c.want) {
				t.Errorf("got code %d, output %q, error %q; want 2 and an error with %q", o.code, o.out, o.err, c.want)
			}
		})
	}
}

func TestAnInterruptPrintsWhatWasMeasuredOfTheCodec(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	c := start(t, plain(t), "codec", "--seconds", "3600", "--rows", "1", "--mode", "decode", "--cpu-profile", profile, "--json", "-")
	until(t, "a profile", func() bool { _, err := os.Stat(profile); return err == nil })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	o := c.wait()
	if o.code != 130 || o.err != "bench: interrupted\n" {
		t.Errorf("code %d, error %q", o.code, o.err)
	}
	if o.code = 0; o.out != "" {
		if o.err = ""; len(o.codec(t).Results) != 1 {
			t.Errorf("output %q", o.out)
		}
	}
}
