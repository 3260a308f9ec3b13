// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/codec"
)

// The test below asks real msgspec, with types built from layouts.json by
// testdata/conformance.py, whether it reads what we write and writes what we
// read: typed and strict, in every release at which any message changed.

// conformance is one run against one Python.
type conformance struct {
	*testing.T
	python *pythonPeer
	drawn  map[string]bool
	asked  int
}

func TestConformanceWithMsgspec(t *testing.T) {
	c := &conformance{T: t, python: startMsgspec(t), drawn: map[string]bool{}}
	about := c.python.ask(t, question{Op: "releases"})
	if len(about.Releases) < 20 {
		t.Fatalf("python knows the releases %v only", about.Releases)
	}
	for _, release := range about.Releases {
		l := layout(t, release)
		d := drawer{wire: fieldsOf(t, release), drawn: c.drawn}
		for name, run := range map[string]func(*testing.T, string, *codec.Layout, drawer){
			"requests": c.requests, "outputs": c.outputs, "adapters": c.adapters, "requests of msgspec": c.samplesOfRequests,
			"outputs of msgspec": c.samplesOfOutputs, "ready": c.ready, "init": c.init,
		} {
			t.Run(release+"/"+name, func(t *testing.T) { run(t, release, l, d) })
		}
	}
	t.Run("every field was tried", c.complete)
	t.Logf("msgspec %s: %d releases, %d messages read and written on both sides", about.Msgspec, len(about.Releases), c.asked)
}

// asks sends a message of ours to Python, compares what it reads with what we
// meant, and gives the frames in which Python writes it.
func (c *conformance) asks(t failer, kind, release string, payload []byte, aux [][]byte, meant any) [][]byte {
	t.Helper()
	c.asked++
	a := c.python.ask(t, question{Op: "decode", Kind: kind, Release: release, Frames: hexFrames(payload, aux...)})
	if d := conform(a.Value, meant); d != nil {
		t.Fatalf("%s of %s:\n%s", kind, release, strings.Join(d, "\n"))
	}
	if len(a.Unknown) > 0 {
		t.Fatalf("%s of %s: keys that the release does not know: %v", kind, release, a.Unknown)
	}
	return a.frames(t)
}

func (c *conformance) requests(t *testing.T, release string, l *codec.Layout, d drawer) {
	rapid.Check(t, func(t *rapid.T) {
		d.t = t
		r := d.request()
		if err := r.Validate(); err != nil {
			t.Fatalf("drawn, and refused: %v", err)
		}
		b, aux, err := l.AppendRequest(nil, nil, r)
		if err != nil {
			t.Fatalf("%s has all its fields, and: %v", release, err)
		}
		again, err := l.DecodeRequest(c.asks(t, "request", release, b, aux, r))
		if err != nil {
			t.Fatalf("msgspec's request is refused: %v", err)
		}
		if d := cmp.Diff(r, sortedSets(again), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("comes back from msgspec in %s as: %s", release, d)
		}
	})
}

// sortedSets puts what Python keeps as sets in order.
func sortedSets(r *codec.Request) *codec.Request {
	if r.Sampling != nil {
		slices.Sort(r.Sampling.AllStopTokenIDs)
	}
	return r
}

func (c *conformance) outputs(t *testing.T, release string, l *codec.Layout, d drawer) {
	rapid.Check(t, func(t *rapid.T) {
		d.t = t
		o := d.outputs()
		b, aux, err := l.AppendOutputs(nil, nil, o)
		if err != nil {
			t.Fatalf("%s has all its fields, and: %v", release, err)
		}
		again := outputsOf(t, l, c.asks(t, "outputs", release, b, aux, o))
		c.outputsAgain(t, release, l, o, again)
	})
}

// outputsAgain compares two readings of outputs by what Python makes of them:
// the second has only raw rows, whose parts are compared when asked for.
func (c *conformance) outputsAgain(t failer, release string, l *codec.Layout, o, again *codec.Outputs) {
	t.Helper()
	b, aux, err := l.AppendOutputs(nil, nil, again)
	if err != nil {
		t.Fatalf("%s: what was decoded is refused: %v", release, err)
	}
	c.asks(t, "outputs", release, b, aux, o)
}

func (c *conformance) adapters(t *testing.T, release string, l *codec.Layout, d drawer) {
	rapid.Check(t, func(t *rapid.T) {
		d.t = t
		r := codec.LoRARequest{}
		d.fill(reflect.ValueOf(&r).Elem())
		v, err := l.LoRAValue(r)
		if err != nil {
			t.Fatalf("%v", err)
		}
		b, err := codec.AppendValue(nil, v)
		if err != nil {
			t.Fatalf("%v", err)
		}
		c.asks(t, "lora", release, b, nil, r)
	})
}

// samples asks Python for a message with values in every field of the release,
// also those that we do not keep.
func (c *conformance) samples(t *rapid.T, kind, release string) answer {
	t.Helper()
	return c.python.ask(t, question{Op: "sample", Kind: kind, Release: release, Seed: rapid.IntRange(0, 1<<30).Draw(t, "seed")})
}

func (c *conformance) samplesOfRequests(t *testing.T, release string, l *codec.Layout, _ drawer) {
	rapid.Check(t, func(t *rapid.T) {
		a := c.samples(t, "request", release)
		r, err := l.DecodeRequest(a.frames(t))
		if err != nil {
			t.Fatalf("msgspec's request of %s: %v", release, err)
		}
		if d := conform(a.Value, r); d != nil {
			t.Fatalf("request of %s:\n%s", release, strings.Join(d, "\n"))
		}
		b, aux, err := l.AppendRequest(nil, nil, r)
		if err != nil {
			t.Fatalf("msgspec's request of %s cannot be written again: %v", release, err)
		}
		c.asks(t, "request", release, b, aux, r)
	})
}

func (c *conformance) samplesOfOutputs(t *testing.T, release string, l *codec.Layout, _ drawer) {
	rapid.Check(t, func(t *rapid.T) {
		a := c.samples(t, "outputs", release)
		o := outputsOf(t, l, a.frames(t))
		if d := conform(a.Value, o); d != nil {
			t.Fatalf("outputs of %s:\n%s", release, strings.Join(d, "\n"))
		}
		c.outputsAgain(t, release, l, o, o)
	})
}

func (c *conformance) ready(t *testing.T, release string, _ *codec.Layout, d drawer) {
	if d.wire["EngineCoreReadyResponse"] == nil {
		t.Skip("the payload was empty")
	}
	rapid.Check(t, func(t *rapid.T) {
		d.t = t
		r := &codec.Ready{}
		d.fill(reflect.ValueOf(r).Elem())
		b, err := codec.AppendReady(nil, r)
		if err != nil {
			t.Fatalf("%v", err)
		}
		c.asks(t, "ready", release, b, nil, *r)
		a := c.samples(t, "ready", release)
		if r, err = codec.DecodeReady(a.frames(t)[0]); err != nil {
			t.Fatalf("msgspec's ready message of %s: %v", release, err)
		}
		if d := conform(a.Value, *r); d != nil {
			t.Fatalf("ready message of %s:\n%s", release, strings.Join(d, "\n"))
		}
	})
}

func (c *conformance) init(t *testing.T, release string, _ *codec.Layout, d drawer) {
	rapid.Check(t, func(t *rapid.T) {
		d.t = t
		i := &codec.Init{
			Inputs: []string{"ipc://a"}, Outputs: []string{"tcp://b:1", "x"}, StatsAddress: "s", CoordinatorInput: rapid.SampledFrom([]string{"", "i"}).Draw(t, "input"),
			ParallelConfig: map[string]any{"data_parallel_size": int64(2), "_data_parallel_master_port_list": []any{int64(1)}},
		}
		b, err := codec.AppendInit(nil, i)
		if err != nil {
			t.Fatalf("%v", err)
		}
		c.asks(t, "init", release, b, nil, *i)
		a := c.samples(t, "init", release)
		if i, err = codec.DecodeInit(a.frames(t)[0]); err != nil {
			t.Fatalf("msgspec's init message: %v", err)
		}
		if d := conform(a.Value, *i); d != nil {
			t.Fatalf("init message:\n%s", strings.Join(d, "\n"))
		}
	})
}

func (c *conformance) complete(t *testing.T) {
	d := drawer{drawn: c.drawn}
	missing := d.neverDrawn(
		reflect.TypeFor[codec.Request](), reflect.TypeFor[codec.SamplingParams](), reflect.TypeFor[codec.PoolingParams](),
		reflect.TypeFor[codec.LoRARequest](), reflect.TypeFor[codec.StructuredOutputs](), reflect.TypeFor[codec.MMFeature](),
		reflect.TypeFor[codec.MMField](), reflect.TypeFor[codec.KVHints](), reflect.TypeFor[codec.KVAction](), reflect.TypeFor[codec.Extra](),
		reflect.TypeFor[codec.Logprobs](), reflect.TypeFor[codec.SamplingMask](), reflect.TypeFor[codec.SpecDecodeMetrics](),
		reflect.TypeFor[codec.PrefillStats](), reflect.TypeFor[codec.RequestError](), reflect.TypeFor[codec.SchedulerStats](),
		reflect.TypeFor[codec.IterationDetails](), reflect.TypeFor[codec.PrefixCacheStats](), reflect.TypeFor[codec.EvictionEvent](),
		reflect.TypeFor[codec.SpecDecodingStats](), reflect.TypeFor[codec.CUDAGraphStat](), reflect.TypeFor[codec.PerfStats](),
		reflect.TypeFor[codec.Ready](), reflect.TypeFor[codec.KVEvents](),
	)
	if len(missing) > 0 {
		t.Errorf("fields that no message had: %v", missing)
	}
}
