// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
	"time"
)

// Workload makes traces. The zero value is 4000 requests at 10 a second, one by one
// (Poisson), without anything in common, whose prompts and answers have 512 and 128
// tokens in the middle and many times as much at the far end.
type Workload struct {
	Requests int     // default 4000
	Rate     float64 // requests a second on average; default 10

	// Burstiness is that of gamma-distributed times between arrivals, their shape
	// (vLLM: vllm bench serve --burstiness): 1, the default, is Poisson; less than 1
	// makes bursts, the coefficient of variation being 1/√Burstiness.
	Burstiness float64
	// On and Off, where both are set, let requests arrive for a time and then none
	// for a time, again and again; the rate over all stays the same.
	On, Off time.Duration

	// Prompt is of what a request does not share with others: all of its prompt, or
	// what follows the prefix, or what a turn adds to its conversation.
	// Default lognormal:512:1.
	Prompt Lengths
	Output Lengths // default lognormal:128:0.8

	// Prefixes is how many texts there are that prompts begin with, each
	// PrefixTokens long (default 1024). The i-th most popular is chosen in
	// proportion to 1/i^Zipf; Zipf is 1 by default, and negative for all alike.
	Prefixes, PrefixTokens int
	Zipf                   float64

	// Turns is how many a conversation has on average; 0 or 1 is none. The next
	// turn comes when the answer can have been read, 30 ms for each of its tokens, and
	// after a while more that is exponentially distributed with mean Think, by
	// default 5 s. It does so whether or not the answer is there by then. A trace
	// begins in the middle of conversations, and they end at 16,384 tokens.
	Turns int
	Think time.Duration
}

const (
	reading     = 30 * time.Millisecond // of a token
	longestTalk = 16 << 10              // tokens
	mostWork    = 10_000_000            // requests
)

func (w Workload) filled() Workload {
	w.Requests, w.Rate = cmp.Or(w.Requests, 4000), cmp.Or(w.Rate, 10)
	w.Burstiness, w.Zipf = cmp.Or(w.Burstiness, 1), cmp.Or(w.Zipf, 1)
	w.PrefixTokens, w.Turns = cmp.Or(w.PrefixTokens, 1024), max(w.Turns, 1)
	w.Think = cmp.Or(w.Think, 5*time.Second)
	if w.Prompt == (Lengths{}) {
		w.Prompt = Lognormal(512, 1)
	}
	if w.Output == (Lengths{}) {
		w.Output = Lognormal(128, 0.8)
	}
	return w
}

// check says what is wrong with a filled workload.
func (w *Workload) check() error {
	switch {
	case w.Requests < 1 || w.Requests > mostWork:
		return fmt.Errorf("replay: Workload.Requests: must be 1 to %d, is %d", mostWork, w.Requests)
	case !(w.Rate > 0) || float64(w.Requests)/w.Rate > mostSeconds:
		return fmt.Errorf("replay: Workload.Rate: must be positive, and all arrive in %.0f s, is %v", mostSeconds, w.Rate)
	case !(w.Burstiness >= 0.001 && w.Burstiness <= 1000):
		return fmt.Errorf("replay: Workload.Burstiness: must be 0.001 to 1000, is %v", w.Burstiness)
	case w.On < 0 || w.Off < 0:
		return fmt.Errorf("replay: Workload.On, Off: must not be negative, are %v and %v", w.On, w.Off)
	case w.Prefixes < 0 || w.Prefixes > mostWork:
		return fmt.Errorf("replay: Workload.Prefixes: must be 0 to %d, is %d", mostWork, w.Prefixes)
	case w.PrefixTokens < 1 || w.PrefixTokens > mostTokens/2:
		return fmt.Errorf("replay: Workload.PrefixTokens: must be 1 to %d, is %d", mostTokens/2, w.PrefixTokens)
	case math.IsNaN(w.Zipf) || math.IsInf(w.Zipf, 0):
		return fmt.Errorf("replay: Workload.Zipf: must be finite, is %v", w.Zipf)
	case w.Turns > 1000 || w.Think < 0:
		return fmt.Errorf("replay: Workload.Turns, Think: must be up to 1000 and not negative, are %d and %v", w.Turns, w.Think)
	}
	return nil
}

// Trace makes the trace of a seed, the same one each time.
func (w Workload) Trace(seed uint64) (Trace, error) {
	w = w.filled()
	if err := w.check(); err != nil {
		return nil, err
	}
	m := maker{Workload: w, rand: rand.New(rand.NewPCG(seed, 0x7261636573))}
	m.zipf()
	if w.Turns > 1 {
		m.talks()
	} else {
		m.single()
	}
	return m.trace, nil
}

// maker makes one trace.
type maker struct {
	Workload
	rand    *rand.Rand
	popular []float64 // by prefix: how many of all requests have it or one before it
	trace   Trace
}

// single makes requests that are no conversations.
func (m *maker) single() {
	c := m.arrivals(m.Rate)
	for range m.Requests {
		q := Request{At: c.next(), Prompt: m.Prompt.draw(m.rand), Output: m.Output.draw(m.rand)}
		m.share(&q)
		m.trace = append(m.trace, q)
	}
}

// talks makes conversations, the first of which began long before the trace does, and
// keeps the requests that arrive first after its start.
func (m *maker) talks() {
	c := m.arrivals(m.Rate / float64(m.Turns))
	span := time.Duration(float64(m.Requests) / m.Rate * 1e9)
	before := time.Duration(4*m.Turns) * (m.Think + 200*reading)
	for n := 0; len(m.trace) < 2*m.Requests; n++ {
		at := c.next() - before
		if at > span && len(m.trace) >= m.Requests {
			break
		}
		m.talk(n, at)
	}
	m.trace.sort()
	m.trace = m.trace[:m.Requests]
}

// talk makes the n-th conversation, which begins at a time.
func (m *maker) talk(n int, at time.Duration) {
	q := Request{Session: strconv.Itoa(n)}
	m.share(&q)
	for range 1 + m.rand.IntN(2*m.Turns-1) {
		q.At, q.Prompt, q.Output = at, q.Prompt+m.Prompt.draw(m.rand), m.Output.draw(m.rand)
		if q.Prompt+q.Output > longestTalk {
			return
		}
		if at >= 0 {
			m.trace = append(m.trace, q)
		}
		q.Prompt += q.Output
		at += time.Duration(q.Output)*reading + time.Duration(m.rand.ExpFloat64()*float64(m.Think))
	}
}

// zipf prepares share.
func (m *maker) zipf() {
	sum := 0.0
	for i := range m.Prefixes {
		sum += math.Pow(float64(i+1), -max(m.Zipf, 0))
		m.popular = append(m.popular, sum)
	}
	for i := range m.popular {
		m.popular[i] /= sum
	}
}

// share gives q a prefix, if there are any.
func (m *maker) share(q *Request) {
	if m.Prefixes == 0 {
		return
	}
	i := min(sort.SearchFloat64s(m.popular, m.rand.Float64()), m.Prefixes-1)
	q.Prefix, q.PrefixTokens = strconv.Itoa(i), m.PrefixTokens
	q.Prompt += m.PrefixTokens
}
