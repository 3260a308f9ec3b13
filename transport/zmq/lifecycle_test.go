// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/zmq"
)

func TestTransportCloseIsShortWithAnUndeliveredMessage(t *testing.T) {
	tr, err := zmq.New()
	if err != nil {
		t.Fatal(err)
	}
	push := open(t, tr, transport.Socket{Pattern: transport.Push, Endpoint: address(t, "ipc")})
	send(t, push, "", "nobody will read this")
	began := time.Now()
	if err := push.Close(); err != nil {
		t.Error(err)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < transport.DefaultLinger || took > time.Second {
		t.Errorf("close took %v, want linger (%v) and at most a second", took, transport.DefaultLinger)
	}
}

func TestTransportCloseNamesOpenConnections(t *testing.T) {
	tr, err := zmq.New()
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, tr, transport.Socket{Pattern: transport.Pull, Endpoint: address(t, "tcp"), Bind: true})
	var still *zmq.OpenError
	if err := tr.Close(); !errors.As(err, &still) || still.Endpoints[0] != c.Endpoint() {
		t.Errorf("close with a connection open: got %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, err = tr.Open(t.Context(), transport.Socket{Pattern: transport.Pull, Endpoint: address(t, "tcp"), Bind: true})
	if !errors.Is(err, transport.ErrClosed) {
		t.Errorf("open after close: got %v, want ErrClosed", err)
	}
}

func TestATransportMadeByHandIsAnError(t *testing.T) {
	var none zmq.Transport
	if _, err := none.Open(t.Context(), transport.Socket{Pattern: transport.Pull, Endpoint: "tcp://127.0.0.1:0", Bind: true}); err == nil {
		t.Error("it opens")
	}
	if err := none.Close(); err == nil {
		t.Error("it closes")
	}
}

func TestThreadsAreOneOrMore(t *testing.T) {
	if _, err := zmq.NewThreads(0); err == nil {
		t.Error("no I/O thread is enough")
	}
	tr, err := zmq.NewThreads(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	pull := open(t, tr, transport.Socket{Pattern: transport.Pull, Endpoint: address(t, "ipc"), Bind: true})
	send(t, open(t, tr, transport.Socket{Pattern: transport.Push, Endpoint: pull.Endpoint()}), "", "hello")
	recv(t, pull)
}
