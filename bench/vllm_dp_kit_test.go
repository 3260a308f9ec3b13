// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo && linux

package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/transport/zmq"
)

func newZMQ(t *testing.T) *zmq.Transport {
	t.Helper()
	network, err := zmq.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := network.Close(); err != nil {
			t.Error(err)
		}
	})
	return network
}

// ourCoordinator coordinates two engines until the test ends, and has nothing to
// complain of.
func ourCoordinator(t *testing.T, lockstep bool) *coordinator.Coordinator {
	t.Helper()
	a := coordinatorIn(emptyTemp(t))
	c, err := coordinator.Start(context.Background(), coordinator.Config{
		Transport: newZMQ(t), Engines: 2, Lockstep: lockstep,
		Front: a.Front, BackPublish: a.BackPublish, BackOutput: a.BackOutput,
		Skipped: func(err *coordinator.SkippedError) { t.Log(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		n := c.Counters()
		t.Logf("our coordinator: %+v", n)
		if n.Malformed+n.Unmanaged+n.Stale > 0 || n.Ready == 0 || n.Published == 0 || n.Reports == 0 {
			t.Errorf("coordinator's counters are %+v", n)
		}
	})
	return c
}

// coordinatorIn are the addresses of a coordinator in a directory.
func coordinatorIn(directory string) pipeline.CoordinatorAddresses {
	at := func(name string) string { return "ipc://" + directory + "/" + name }
	return pipeline.CoordinatorAddresses{Front: at("f"), BackPublish: at("p"), BackOutput: at("o")}
}

// vllmCoordinator is a way to start vLLM's own, of two engines.
func vllmCoordinator(t *testing.T) (start func(t *testing.T, lockstep bool) pipeline.CoordinatorAddresses) {
	t.Helper()
	p := newPython(t, "../pipeline/coordinator/testdata/coordinator.py")
	return func(t *testing.T, lockstep bool) pipeline.CoordinatorAddresses {
		t.Helper()
		directory := emptyTemp(t)
		a := coordinatorIn(directory)
		p.tell(t, map[string]any{
			"engine_count": 2, "enable_wave_coordination": lockstep, "front_publish_address": a.Front,
			"back_publish_address": a.BackPublish, "back_output_address": a.BackOutput,
		})
		soon(t, 2*time.Minute, "vLLM's coordinator", func() bool {
			files, err := os.ReadDir(directory)
			return err == nil && len(files) == 3
		})
		return a
	}
}

// soon asks again and again, for so long.
func soon(t *testing.T, limit time.Duration, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("no %s in %v", what, limit)
		}
	}
}

// connectDP connects to two engines.
func connectDP(t *testing.T, c pipeline.Config) *pipeline.Client {
	t.Helper()
	c.Transport, c.Engines = newZMQ(t), 2
	got, err := pipeline.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := got.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if n := got.Counters(); n.Malformed+n.BadRows+n.Strangers+n.Blind > 0 {
			t.Errorf("client's counters are %+v", n)
		}
	})
	return got
}

// audience hears what a coordinator tells clients.
type audience struct {
	mu           sync.Mutex
	began, ended int // waves
	loads        int // publications of loads that are not all zero
}

// listen is there once it has heard something.
func listen(t *testing.T, front string) *audience {
	t.Helper()
	conn := subscriber(t, newZMQ(t), front)
	a, first, over := &audience{}, make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-over })
	go func() { // ends with conn
		defer close(over)
		for heard := false; ; heard = true {
			p, err := conn.Recv(context.Background())
			if err != nil {
				return
			}
			counts, err := codec.DecodeCounts(p.Frames[0])
			if err != nil {
				t.Errorf("coordinator said %x: %v", p.Frames, err)
				return
			}
			if a.take(counts); !heard {
				close(first)
			}
		}
	}()
	select {
	case <-first:
	case <-time.NewTimer(15 * time.Second).C: // three keepalives
		t.Fatal("the coordinator says nothing")
	}
	return a
}

func (a *audience) take(c *codec.Counts) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case c.Rows != nil:
		for _, r := range c.Rows {
			if r.Waiting+r.Running > 0 {
				a.loads++
				return
			}
		}
	case c.Running:
		a.began++
	default:
		a.ended++
	}
}

func (a *audience) waves() (began, ended int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.began, a.ended
}

func (a *audience) loaded() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.loads
}

// answer is what became of a request.
type answer struct {
	*codec.Request
	tokens []uint32
	rank   int
	took   time.Duration
}

// all runs requests at once, at most so many at a time, in their order.
func all(t *testing.T, c *pipeline.Client, atOnce int, requests []*codec.Request) []answer {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("a minute was not enough"))
	defer cancel()
	answers, next := make([]answer, len(requests)), make(chan int)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i := range next {
				began := time.Now()
				tokens, rank, err := run(ctx, c, requests[i])
				if answers[i] = (answer{requests[i], tokens, rank, time.Since(began)}); err != nil || len(tokens) != requests[i].Sampling.MaxTokens {
					t.Errorf("request %s: %d tokens from engine %d after %v, %v", requests[i].ID, len(tokens), rank, time.Since(began), err)
				}
			}
		})
	}
	for i := range requests {
		next <- i
	}
	close(next)
	workers.Wait()
	return answers
}

// prompts are n requests that share no id with those of another name.
func prompts(name string, n int, tokens func(i int) int) []*codec.Request {
	requests := make([]*codec.Request, n)
	for i := range requests {
		requests[i] = prompt(fmt.Sprint(name, "-", i), tokens(i))
	}
	return requests
}

func shares(answers []answer) (n [2]int) {
	for _, a := range answers {
		if a.rank >= 0 {
			n[a.rank]++
		}
	}
	return n
}

// wantHalves wants both engines used within 10 % of half.
func wantHalves(t *testing.T, n [2]int) {
	t.Helper()
	t.Logf("engines got %v requests", n)
	half := float64(n[0]+n[1]) / 2
	if d := float64(n[0]) - half; d > half/10 || d < -half/10 {
		t.Errorf("engines got %v requests, want within 10 %% of half", n)
	}
}
