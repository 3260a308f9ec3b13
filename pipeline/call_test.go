// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

func socketAt(endpoint string) transport.Socket {
	return transport.Socket{Pattern: transport.Router, Endpoint: endpoint, Bind: true}
}

// answer replies to a call with a result.
func (p *peer) answer(id codec.CallID, result any) {
	u := &codec.UtilityOutput{CallID: id}
	u.SetResult(result)
	p.put(codec.Outputs{Utility: u, Timestamp: 1})
}

func TestACallGoesToAllOrSomeEngines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 2)
		type answer struct {
			replies []pipeline.Reply
			err     error
		}
		done := make(chan answer, 1)
		call := func(ranks ...int) {
			go func() {
				r, err := c.Call(t.Context(), "collective_rpc", []any{"f", nil, []any{1, "x"}}, ranks...)
				done <- answer{r, err}
			}()
		}
		call()
		ids := map[codec.CallID]bool{}
		for i := range peers {
			p := peers[1-i] // replies come in any order
			m := p.next()
			if m.kind != codec.Utility || m.call.Method != "collective_rpc" || len(m.call.Args) != 3 {
				t.Fatalf("engine %d got %+v", p.rank, m.call)
			}
			ids[m.call.CallID] = true
			p.answer(m.call.CallID, []any{p.rank})
		}
		a := <-done
		if len(ids) != 2 || a.err != nil || len(a.replies) != 2 {
			t.Fatalf("got %+v over %d ids", a, len(ids))
		}
		for i, r := range a.replies {
			if l, ok := r.Result.([]any); !ok || r.Rank != i || len(l) != 1 || l[0] != int64(i) {
				t.Fatalf("reply %d is %+v", i, r)
			}
		}
		call(1)
		m := peers[1].next()
		peers[1].put(codec.Outputs{Utility: &codec.UtilityOutput{CallID: m.call.CallID, Failure: "no such thing"}, Timestamp: 1})
		var e *pipeline.CallError
		if a := <-done; !errors.As(a.err, &e) || e.Rank != 1 || e.Message != "no such thing" || e.Method != "collective_rpc" {
			t.Fatalf("got %+v", a)
		}
	})
}

func TestACancelledCallDropsItsLateReply(t *testing.T) { // F13
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { _, err := c.Call(ctx, "sleep", nil); done <- err }()
			m := peers[0].next()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			peers[0].answer(m.call.CallID, nil)
		}
		synctest.Wait()
		if n := c.Counters().Calls; n != 100 {
			t.Fatalf("%d late replies counted", n)
		}
	})
}

func TestCallsThatCannotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		if _, err := c.Call(t.Context(), "handle_fault_tolerance", []any{map[string]any{}}); !errors.Is(err, pipeline.ErrFatalCall) {
			t.Errorf("a call that kills: %v", err)
		}
		if _, err := c.Call(t.Context(), "sleep", nil, 5); !errors.Is(err, pipeline.ErrNoEngine) {
			t.Errorf("an engine that is not there: %v", err)
		}
		if _, err := c.Call(t.Context(), "sleep", []any{func() {}}); err == nil {
			t.Error("a function was sent")
		}
		peers[0].silent(1)
	})
}
