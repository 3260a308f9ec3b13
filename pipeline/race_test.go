// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
)

func TestAnAbortByIDNeverOvertakesItsAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		const n = 2000
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range n {
					for i := range 4 {
						if err := c.Abort(t.Context(), fmt.Sprint("r", i)); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		for i := range 4 {
			wg.Go(func() {
				for range n {
					s := submit(t, c, simple(fmt.Sprint("r", i)))
					s.Close()
				}
			})
		}
		wg.Wait()
		running := map[string]int{}
		for added := 0; added < 4*n; {
			switch m := peers[0].next(); m.kind {
			case codec.Add:
				added++
				running[m.request.ID]++
			case codec.Abort:
				for _, id := range m.ids {
					running[id]--
				}
			}
		}
		for _, left := range running {
			for range left {
				peers[0].next() // the last ones' aborts
			}
			if left < 0 {
				t.Fatalf("aborts came before their adds: %v", running)
			}
		}
		peers[0].silent(time.Second)
	})
}

func TestFinishedRequestsEndNoLaterRequestOfTheID(t *testing.T) { // L8
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		for range 500 {
			s := submit(t, c, simple("r"))
			peers[0].next()
			peers[0].put(codec.Outputs{Rows: []codec.Output{row("r", codec.FinishStop, 1)}, Finished: []string{"r"}, Timestamp: 1})
			if _, _, err := read(s); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestFinishedRequestsOfAnotherEngineMeanNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, peers, streams := twoOnTwo(t)
		peers[0].put(codec.Outputs{Finished: []string{"r1"}, Timestamp: 1})
		synctest.Wait()
		survives(t, peers[1], streams[1])
		peers[0].put(codec.Outputs{Finished: []string{"r0"}, Timestamp: 1})
		if err := failure(streams[0]); !errors.As(err, new(*pipeline.FinishError)) {
			t.Fatalf("its own: %v", err)
		}
	})
}

func TestSubmitThatWaitsForRoomIsWokenByClose(t *testing.T) { // L18
	synctest.Test(t, func(t *testing.T) {
		c, _, _ := connect(t, 1, func(c *pipeline.Config) { c.MaxInFlight = 1 })
		s := submit(t, c, simple("first"))
		done := make(chan error, 1)
		go func() { _, err := c.Submit(t.Context(), simple("second")); done <- err }()
		synctest.Wait()
		closed := make(chan struct{})
		go func() { shut(t, c); close(closed) }()
		if err := <-done; !errors.Is(err, pipeline.ErrClosed) {
			t.Fatalf("got %v", err)
		}
		<-closed
		if err := failure(s); !errors.Is(err, pipeline.ErrClosed) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestASessionsChunkNeedsNoRoomAndItsFailureIsAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1, func(c *pipeline.Config) {
			c.MaxInFlight = 1
			c.Wire = wireWith(pipeline.Filter(func(v pipeline.Command) bool {
				a, ok := v.(*pipeline.Add)
				return !ok || len(a.Request.Prompt) < 5
			}))
		})
		chunk := func(n int) *codec.Request {
			r := simple("session")
			r.Resumable, r.Prompt = true, make([]uint32, n)
			return r
		}
		s := submit(t, c, chunk(1))
		if again := submit(t, c, chunk(2)); again != s {
			t.Fatal("a chunk has a stream of its own")
		}
		for range 2 {
			if m := peers[0].next(); m.kind != codec.Add {
				t.Fatalf("got %v", m.kind)
			}
		}
		submit(t, c, chunk(5))
		if err := failure(s); !errors.Is(err, pipeline.ErrDropped) {
			t.Fatalf("got %v", err)
		}
		if m := peers[0].next(); m.kind != codec.Abort || !slices.Equal(m.ids, []string{"session"}) {
			t.Fatalf("got %v %v", m.kind, m.ids)
		}
	})
}
