// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

func TestConfigsThatMakeNoSenseAreRefused(t *testing.T) {
	network := new(inproc.Network)
	for want, c := range map[string]coordinator.Config{
		"Config.Transport: is required":                      {},
		"Config.Engines: must be 1 to 65536, is -1":          {Transport: network, Engines: -1},
		"Config.Engines: must be 1 to 65536, is 65537":       {Transport: network, Engines: 65537},
		"Config.Pace: must not be negative":                  {Transport: network, Pace: coordinator.Pace{Quiet: -1}},
		"Config.Release: codec: vllm release 0.1":            {Transport: network, Release: "0.1"},
		"bind front: transport: endpoint \"nowhere\"":        {Transport: network, Front: "nowhere"},
		"bind back publish: transport: endpoint \"nowhere\"": {Transport: network, BackPublish: "nowhere"},
		"bind back output: transport: endpoint \"tcp://a:1\": address in use": {
			Transport: network, BackPublish: "tcp://a:1", BackOutput: "tcp://a:1",
		},
	} {
		_, err := coordinator.Start(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	_, err := coordinator.Start(t.Context(), coordinator.Config{Transport: network, Release: "0.1"})
	if !errors.As(err, new(*codec.ReleaseError)) {
		t.Errorf("not to be recognised: %v", err)
	}
	// What had been bound is free again.
	c, err := coordinator.Start(t.Context(), coordinator.Config{Transport: network, BackPublish: "tcp://a:1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestEndsThatAreWantedAreNoErrors(t *testing.T) {
	for name, end := range map[string]func(cancel context.CancelFunc, c *coordinator.Coordinator) error{
		"close": func(_ context.CancelFunc, c *coordinator.Coordinator) error { return c.Close() },
		"the context of Start": func(cancel context.CancelFunc, c *coordinator.Coordinator) error {
			cancel()
			return c.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which also counts goroutines
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				network := new(inproc.Network)
				config := coordinator.Config{Transport: network, Front: "inproc://front"}
				c, err := coordinator.Start(ctx, config)
				if err != nil {
					t.Fatal(err)
				}
				if a := c.Addresses(); a.Front != "inproc://front" || a.BackPublish == a.BackOutput || strings.HasSuffix(a.BackOutput, ":0") {
					t.Errorf("addresses %+v", a)
				}
				if err := end(cancel, c); err != nil {
					t.Errorf("got error %v", err)
				}
				<-c.Done()
				if err := c.Close(); err != nil {
					t.Errorf("closed again: %v", err)
				}
				if again, err := coordinator.Start(t.Context(), config); err != nil {
					t.Errorf("its address is not free: %v", err)
				} else if err := again.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// lossy closes what it opened, or breaks it.
type lossy struct {
	transport.Transport
	broken error
	conns  []transport.Conn
}

func (l *lossy) Open(ctx context.Context, s transport.Socket) (transport.Conn, error) {
	conn, err := l.Transport.Open(ctx, s)
	l.conns = append(l.conns, conn)
	return breaking{conn, l}, err
}

type breaking struct {
	transport.Conn
	l *lossy
}

func (b breaking) Send(p transport.Packet) error {
	if b.l.broken != nil {
		return b.l.broken
	}
	return b.Conn.Send(p)
}

func TestALostSocketEndsItWithAnErrorThatNamesIt(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		lose func(*lossy)
		err  error
	}{
		"closed by others": {func(l *lossy) { l.conns[1].Close() }, nil},
		"cannot send":      {func(l *lossy) { l.broken = broken; subscribe(t, l, l.conns[1].Endpoint()) }, broken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lossy{Transport: new(inproc.Network)}
				co, err := coordinator.Start(t.Context(), coordinator.Config{Transport: l})
				if err != nil {
					t.Fatal(err)
				}
				c.lose(l)
				err = co.Wait()
				stage, ok := errors.AsType[*pipeline.StageError](err)
				if !ok || stage.Stage != "coordinate" || c.err != nil && !errors.Is(err, c.err) {
					t.Errorf("got error %v", err)
				}
				if again := co.Close(); !errors.Is(again, err) {
					t.Errorf("Close: %v, Wait: %v", again, err)
				}
			})
		})
	}
}

func subscribe(t *testing.T, network transport.Transport, endpoint string) {
	t.Helper()
	conn, err := network.(*lossy).Transport.Open(t.Context(), transport.Socket{Pattern: transport.XSub, Endpoint: endpoint})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Send(transport.Packet{Frames: [][]byte{{1}}, Shared: 1}); err != nil {
		t.Fatal(err)
	}
}

// State may be asked for from where a message was skipped.
func TestSkippedMayAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stand{T: t, network: new(inproc.Network)}
		asked := make(chan coordinator.Counters, 1)
		config := coordinator.Config{Transport: s.network}
		config.Skipped = func(*coordinator.SkippedError) { asked <- s.Counters() }
		var err error
		if s.Coordinator, err = coordinator.Start(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.send(s.open(transport.Socket{Pattern: transport.XSub, Endpoint: s.Addresses().BackPublish}), "junk")
		if got := <-asked; got.Malformed != 1 {
			t.Errorf("counters %+v", got)
		}
	})
}
