// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/corepipe/corepipe/bench/replay"
)

func made(t *testing.T, w replay.Workload, seed uint64) replay.Trace {
	t.Helper()
	trace, err := w.Trace(seed)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// gaps is mean and coefficient of variation of the times between arrivals, in seconds.
func gaps(t replay.Trace) (mean, variation float64) {
	var sum, squares float64
	for i := range t[1:] {
		d := (t[i+1].At - t[i].At).Seconds()
		sum, squares = sum+d, squares+d*d
	}
	n := float64(len(t) - 1)
	mean = sum / n
	return mean, math.Sqrt(squares/n-mean*mean) / mean
}

func TestArrivalsHaveTheirRateAndBurstiness(t *testing.T) {
	for _, c := range []struct {
		name      string
		workload  replay.Workload
		variation float64
	}{
		{"Poisson", replay.Workload{}, 1},
		{"bursts", replay.Workload{Burstiness: 0.1}, math.Sqrt(10)},
		{"nearly regular", replay.Workload{Burstiness: 100}, 0.1},
		{"conversations", replay.Workload{Turns: 4}, 1},
	} {
		c.workload.Rate, c.workload.Requests = 20, 40000
		mean, variation := gaps(made(t, c.workload, 1))
		if math.Abs(mean*20-1) > 0.06 || math.Abs(variation/c.variation-1) > 0.08 {
			t.Errorf("%s: every %.4f s with variation %.3f, want 0.05 and %.3f", c.name, mean, variation, c.variation)
		}
	}
}

func TestNothingArrivesWhileArrivalsAreOff(t *testing.T) {
	trace := made(t, replay.Workload{Rate: 100, Requests: 10000, On: time.Second, Off: 3 * time.Second}, 1)
	for _, q := range trace {
		if q.At%(4*time.Second) > time.Second {
			t.Fatalf("one arrives at %v", q.At)
		}
	}
	if mean, _ := gaps(trace); math.Abs(mean*100-1) > 0.06 {
		t.Errorf("every %.4f s, want 0.01", mean)
	}
}

func TestLengthsAreDistributedAsTheySay(t *testing.T) {
	for text, want := range map[string]struct{ least, median, mean, most float64 }{
		"512":               {512, 512, 512, 512},
		"uniform:100:900":   {100, 500, 500, 900},
		"exponential:300":   {1, 300 * math.Ln2, 300, 0},
		"lognormal:512:1":   {1, 512, 512 * math.Exp(0.5), 0},
		"lognormal:128:0.8": {1, 128, 128 * math.Exp(0.32), 0},
	} {
		var l replay.Lengths
		if err := l.UnmarshalText([]byte(text)); err != nil || l.String() != text {
			t.Fatalf("%s: %v, %v", text, l, err)
		}
		var lengths []int
		sum := 0
		for _, q := range made(t, replay.Workload{Requests: 40000, Rate: 1000, Prompt: l}, 1) {
			lengths, sum = append(lengths, q.Prompt), sum+q.Prompt
		}
		slices.Sort(lengths)
		median, mean := float64(lengths[len(lengths)/2]), float64(sum)/float64(len(lengths))
		if math.Abs(median/want.median-1) > 0.04 || math.Abs(mean/want.mean-1) > 0.04 {
			t.Errorf("%s: median %.0f, mean %.0f; want %.0f, %.0f", text, median, mean, want.median, want.mean)
		}
		least, most := float64(lengths[0]), float64(lengths[len(lengths)-1])
		if least < want.least || want.most > 0 && (most != want.most || least != want.least) {
			t.Errorf("%s: from %.0f to %.0f, want %.0f to %.0f", text, least, most, want.least, want.most)
		}
	}
}

func TestLengthsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, text := range []string{"", "x", "0", "-1", "NaN", "1:2", "uniform:9", "uniform:9:8", "lognormal:512", "gauss:1:2", "fixed:1:2", "exponential:1e9"} {
		var l replay.Lengths
		if err := l.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %v", text, l)
		}
	}
}

func TestPrefixesAreAsPopularAsZipfSays(t *testing.T) {
	for _, c := range []struct{ zipf, first float64 }{{0, 1 / 1.8333}, {2, 1 / 1.3611}, {-1, 1.0 / 3}} {
		w := replay.Workload{Requests: 30000, Rate: 1000, Prefixes: 3, PrefixTokens: 64, Prompt: replay.Fixed(10), Zipf: c.zipf}
		first := 0
		for _, q := range made(t, w, 1) {
			if q.Prompt != 74 || q.PrefixTokens != 64 {
				t.Fatalf("%+v", q)
			}
			if q.Prefix == "0" {
				first++
			}
		}
		if got := float64(first) / 30000; math.Abs(got-c.first) > 0.015 {
			t.Errorf("zipf %v: %.3f have the first one, want %.3f", c.zipf, got, c.first)
		}
	}
}

func TestATurnRepeatsTheConversationAndComesAfterItsAnswer(t *testing.T) {
	w := replay.Workload{Requests: 5000, Rate: 20, Turns: 5, Prompt: replay.Fixed(50), Output: replay.Fixed(100), Prefixes: 2, PrefixTokens: 32}
	last, turns := map[string]replay.Request{}, map[string]int{}
	for _, q := range made(t, w, 1) {
		turns[q.Session]++
		before, ok := last[q.Session]
		last[q.Session] = q
		if !ok {
			if (q.Prompt-82)%150 != 0 {
				t.Fatalf("a prompt of %d tokens", q.Prompt)
			}
			continue
		}
		if q.Prompt != before.Prompt+150 || q.Prefix != before.Prefix || q.At < before.At+3*time.Second {
			t.Fatalf("after %+v comes %+v", before, q)
		}
	}
	if mean := 5000 / float64(len(turns)); mean < 3 || mean > 5 {
		t.Errorf("%.2f turns of a conversation in the trace, want a little less than 5", mean)
	}
}

func TestSeedsMakeDifferentTraces(t *testing.T) {
	a, b := made(t, replay.Workload{}, 1), made(t, replay.Workload{}, 2)
	if a[0].At == b[0].At || a[9].Prompt == b[9].Prompt && a[8].Prompt == b[8].Prompt {
		t.Error("seeds 1 and 2 are alike")
	}
}

func TestAWorkloadThatMakesNoSenseIsRefused(t *testing.T) {
	for want, w := range map[string]replay.Workload{
		"Requests:":     {Requests: -1},
		"Rate:":         {Rate: math.NaN()},
		"Burstiness:":   {Burstiness: -1},
		"On, Off:":      {On: -1},
		"Prefixes:":     {Prefixes: -1},
		"PrefixTokens:": {PrefixTokens: -1},
		"Zipf:":         {Zipf: math.Inf(1)},
		"Turns, Think:": {Turns: 1001},
	} {
		if _, err := w.Trace(1); err == nil || !strings.HasPrefix(err.Error(), "replay: Workload."+want) {
			t.Errorf("%s %v", want, err)
		}
	}
}
