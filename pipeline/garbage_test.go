// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
)

func TestGarbageOnASharedAddressGivesNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peers, streams := twoOnTwo(t)
		for range 3 * pipeline.MaxMalformed {
			peers[0].send(peers[0].out, []byte{0xc1})
		}
		synctest.Wait()
		if n := c.Counters().Malformed; n != 3*pipeline.MaxMalformed {
			t.Fatalf("%d counted", n)
		}
		survives(t, peers[0], streams[0])
		survives(t, peers[1], streams[1])
	})
}

func TestRowsThatNameNobodyCountAgainstTheirEngine(t *testing.T) { // F4
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		s := submit(t, c, simple("r"))
		peers[0].next()
		for range pipeline.MaxMalformed {
			peers[0].send(peers[0].out, []byte("\x92\x00\x91\x92\xc0\x90")) // [0, [[nil, []]]]
		}
		if err := failure(s); !errors.Is(err, pipeline.ErrEngineDead) || !errors.As(err, new(*codec.DecodeError)) {
			t.Fatalf("got %v", err)
		}
		if n := c.Counters(); n.BadRows != pipeline.MaxMalformed || n.Late != 0 {
			t.Fatalf("counted %+v", n)
		}
	})
}

func TestARestartThatCannotBeReadIsADeath(t *testing.T) {
	for name, ready := range map[string]string{
		"no msgpack": "\xc1",
		"no release": "\x82\xadmax_model_len\x64\xacvllm_version\xa3new",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, peers, net := connect(t, 1)
				s := submit(t, c, simple("r"))
				peers[0].next()
				again := dial(t, net, fixedInput, fixedOutput, 0)
				again.send(again.in, []byte(ready))
				if err := failure(s); !errors.Is(err, pipeline.ErrEngineDead) {
					t.Fatalf("got %v", err)
				}
			})
		})
	}
}

func TestAnUnreadStreamKeepsNoMessagesAlive(t *testing.T) {
	c, peers, _ := connect(t, 1)
	s := submit(t, c, simple("slow"))
	peers[0].next()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	const steps, rows = 2000, 128
	batch := make([]codec.Output, 0, rows)
	for step := range steps {
		batch = batch[:0]
		mine := row("slow", codec.FinishNone, uint32(step))
		mine.SetExtra(&codec.Extra{StopReason: "x"}) // as logprobs would, it keeps outputs apart
		batch = append(batch, mine)
		for i := range rows - 1 {
			batch = append(batch, row(fmt.Sprintf("somebody else's request %04d", i), codec.FinishNone, 1))
		}
		peers[0].rows(batch...)
	}
	for c.Counters().Late < steps*(rows-1) {
		runtime.Gosched()
	}
	if each := (int64(heap()) - int64(before)) / steps; each > 600 {
		t.Errorf("%d bytes are held for each unread output", each)
	}
	s.Close()
}
