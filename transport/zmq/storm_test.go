// SPDX-License-Identifier: Apache-2.0

//go:build cgo && unix

package zmq_test

import (
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/transporttest"
)

// TestSignalsDoNotInterrupt raises what Go's preemption and profiler raise, at
// 1 kHz, while the suite's packets go both ways.
func TestSignalsDoNotInterrupt(t *testing.T) {
	stop := make(chan struct{})
	var storm sync.WaitGroup
	storm.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				syscall.Kill(syscall.Getpid(), syscall.SIGURG)
				syscall.Kill(syscall.Getpid(), syscall.SIGPROF)
			case <-stop:
				return
			}
		}
	})
	defer storm.Wait()
	defer close(stop)
	for _, c := range transporttest.Cases() {
		if c.Name == "no wake-up is lost between router and dealer" {
			messages := 100_000
			if testing.Short() {
				messages = 10_000
			}
			c.Run(t, transporttest.Harness{
				Transport: newTransport(t), Messages: messages,
				Address: func(t testing.TB) string { return address(t, "ipc") },
			})
			return
		}
	}
	t.Fatal("the suite has no such case")
}

// TestPeersComeAndGoWhileSending has peers connect and drop without an end
// while others send to them; no Send may take long.
func TestPeersComeAndGoWhileSending(t *testing.T) {
	const peers, workers, rounds = 200, 8, 3
	tr := newTransport(t)
	router := open(t, tr, transport.Socket{Pattern: transport.Router, Endpoint: address(t, "ipc"), Bind: true, Handover: true})
	var sending sync.Mutex // the contract has one sender at a time
	done := make(chan struct{})
	var senders, comers, receiver sync.WaitGroup
	for w := range workers {
		senders.Go(func() {
			for i := w; ; i += workers {
				select {
				case <-done:
					return
				default:
				}
				sending.Lock()
				began := time.Now()
				err := router.Send(packet(string([]byte{byte(i % peers), 1}), "work"))
				took := time.Since(began)
				sending.Unlock()
				if err != nil && !errors.Is(err, transport.ErrUnreachable) || took > time.Second {
					t.Errorf("send took %v: %v", took, err)
					return
				}
			}
		})
	}
	receiver.Go(func() {
		for {
			if _, err := router.Recv(t.Context()); err != nil {
				return
			}
		}
	})
	for w := range workers {
		comers.Go(func() {
			for i := w; i < peers*rounds; i += workers {
				d, err := tr.Open(t.Context(), transport.Socket{
					Pattern: transport.Dealer, Endpoint: router.Endpoint(), Identity: []byte{byte(i % peers), 1}, Linger: -1,
				})
				if err != nil {
					t.Error(err)
					return
				}
				if err := d.Send(packet("", "ready")); err != nil {
					t.Error(err)
				}
				if i%2 == 0 { // half of them are heard first
					if _, err := d.Recv(t.Context()); err != nil {
						t.Error(err)
					}
				}
				d.Close()
			}
		})
	}
	comers.Wait()
	close(done)
	senders.Wait()
	router.Close()
	receiver.Wait()
}
