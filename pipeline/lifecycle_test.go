// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport/inproc"
)

func TestConnectSaysWhoIsMissing(t *testing.T) { // L12
	synctest.Test(t, func(t *testing.T) {
		net := new(inproc.Network)
		dial(t, net, fixedInput, fixedOutput, 7).ready(codec.Ready{MaxModelLen: 1})
		c := pipeline.Config{
			Transport: net, Input: fixedInput, Output: fixedOutput, FirstRank: 7, Engines: 2, ConnectTimeout: 300 * time.Millisecond,
		}
		_, err := pipeline.Connect(t.Context(), c)
		var e *pipeline.ConnectError
		if !errors.As(err, &e) || !slices.Equal(e.Ready, []int{7}) || !slices.Equal(e.Missing, []int{8}) || e.Waited != 300*time.Millisecond {
			t.Fatalf("got %v", err)
		}
		in, err := net.Open(t.Context(), socketAt(fixedInput)) // everything was given back
		if err != nil {
			t.Fatal(err)
		}
		_ = in.Close()
	})
}

func TestConnectCanBeCancelledAndTriedAgain(t *testing.T) { // L10
	synctest.Test(t, func(t *testing.T) {
		net := new(inproc.Network)
		c := pipeline.Config{Transport: net, Input: fixedInput, Output: fixedOutput}
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("changed my mind")
		time.AfterFunc(time.Second, func() { cancel(why) })
		if _, err := pipeline.Connect(ctx, c); !errors.Is(err, why) {
			t.Fatalf("got %v", err)
		}
		dial(t, net, fixedInput, fixedOutput, 0).ready(codec.Ready{MaxModelLen: 1})
		client, err := pipeline.Connect(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		shut(t, client)
	})
}

func TestReadyMessages(t *testing.T) {
	for name, c := range map[string]struct {
		peer    string
		payload string
		missing string // the key that the error names; empty for none
	}{
		"P3 with keys that are unknown here": {"\x00\x00", "\x82\xadmax_model_len\x64\xa3new\x01", ""},
		"P3 without optional keys":           {"\x00\x00", "\x81\xadmax_model_len\x64", ""},
		"P3 without the model's length":      {"\x00\x00", "\x81\xa5dtype\xa1x", "max_model_len"},
		"P4 empty, as old engines send it":   {"\x00\x00", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := new(inproc.Network)
				stranger := dial(t, net, fixedInput, fixedOutput, 9)
				stranger.send(stranger.in, []byte("who am I"))
				p := dial(t, net, fixedInput, fixedOutput, 0)
				p.send(p.in, []byte(c.payload))
				client, err := pipeline.Connect(t.Context(), pipeline.Config{Transport: net, Input: fixedInput, Output: fixedOutput, Release: "0.19.1"})
				if c.missing == "" {
					if err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					if n := client.Counters().Strangers; n != 1 {
						t.Errorf("%d strangers", n)
					}
					shut(t, client)
					return
				}
				var e *pipeline.EngineError
				var d *codec.DecodeError
				if !errors.As(err, &e) || e.Rank != 0 || !errors.As(err, &d) || d.Field != c.missing {
					t.Fatalf("got %v", err)
				}
			})
		})
	}
}

func TestConfigIsChecked(t *testing.T) {
	net := new(inproc.Network)
	for field, c := range map[string]pipeline.Config{
		"Transport":      {},
		"Engines":        {Transport: net, Engines: -1},
		"FirstRank":      {Transport: net, FirstRank: 65535, Engines: 2}, // R10
		"Attach":         {Transport: net, Attach: true},
		"Output":         {Transport: net, Input: fixedInput},
		"Coordinator":    {Transport: net, Coordinator: pipeline.CoordinatorAddresses{BackPublish: fixedInput}},
		"StreamInterval": {Transport: net, StreamInterval: -1},
		"Buffer":         {Transport: net, Buffer: -1},
		"MaxInFlight":    {Transport: net, MaxInFlight: -1},
		"ClientIndex":    {Transport: net, ClientIndex: 1},
		"ClientCount":    {Transport: net, ClientCount: 2, Launch: engine.Cores{}},
		"Release":        {Transport: net, Release: "new"},
		"Bind":           {Transport: net, Bind: "ipc:///tmp/x"},
	} {
		_, err := pipeline.Connect(t.Context(), c)
		var e *pipeline.ConfigError
		if !errors.As(err, &e) || e.Field != field || e.Rule == "" {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

func TestCloseEndsStreamsTyped(t *testing.T) { // L9, L1
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		var streams []*pipeline.Stream
		for _, id := range []string{"a", "b", "c"} {
			streams = append(streams, submit(t, c, simple(id)))
			peers[0].next()
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { shut(t, c) })
		}
		wg.Wait()
		for _, s := range streams {
			if err := failure(s); !errors.Is(err, pipeline.ErrClosed) {
				t.Fatalf("got %v", err)
			}
		}
		if m := peers[0].next(); m.kind != codec.Abort || len(m.ids) != 3 {
			t.Fatalf("the engine got %v %v", m.kind, m.ids)
		}
		if _, err := c.Submit(t.Context(), simple("late")); !errors.Is(err, pipeline.ErrClosed) {
			t.Fatalf("got %v", err)
		}
		if _, err := c.Call(t.Context(), "sleep", nil); !errors.Is(err, pipeline.ErrClosed) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestCloseDrainsForAsLongAsItMay(t *testing.T) { // L18
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		fast, endless := submit(t, c, simple("fast")), submit(t, c, simple("endless"))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		done := make(chan error, 1)
		go func() { done <- c.Close(ctx) }()
		synctest.Wait()
		if _, err := c.Submit(t.Context(), simple("late")); !errors.Is(err, pipeline.ErrClosed) {
			t.Fatalf("got %v", err)
		}
		peers[0].rows(row("fast", codec.FinishStop, 1))
		if _, finish, err := read(fast); err != nil || finish != codec.FinishStop {
			t.Fatalf("fast: %v, %v", finish, err)
		}
		if err := failure(endless); !errors.Is(err, pipeline.ErrClosed) || time.Since(began) != 2*time.Second {
			t.Fatalf("endless: %v after %v", err, time.Since(began))
		}
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("close: %v", err)
		}
	})
}
