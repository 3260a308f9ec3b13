// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// stand is a coordinator in memory with one client, and an engine for each
// rank. Its methods belong into a bubble, where the clock is fake.
type stand struct {
	*testing.T
	*coordinator.Coordinator
	network *inproc.Network
	began   time.Time
	layout  *codec.Layout
	client  *ear
	engines []*ear
	push    transport.Conn // shared: an output says whose it is
	skipped []string
}

// newStand starts a coordinator whose engines have not come yet.
func newStand(t *testing.T, config coordinator.Config) *stand {
	t.Helper()
	s := &stand{T: t, network: new(inproc.Network), began: time.Now()}
	config.Transport = s.network
	config.Skipped = func(err *coordinator.SkippedError) { s.skipped = append(s.skipped, err.Error()) }
	var err error
	if s.Coordinator, err = coordinator.Start(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	s.layout, _ = codec.LayoutOf(codec.DefaultRelease)
	s.client = s.listen(s.Addresses().Front, nil)
	s.push = s.open(transport.Socket{Pattern: transport.Push, Endpoint: s.Addresses().BackOutput})
	return s
}

// newReady starts one whose engines are all there, and waits for READY.
func newReady(t *testing.T, config coordinator.Config) *stand {
	t.Helper()
	s := newStand(t, config)
	for range max(config.Engines, 1) {
		s.engine()
	}
	for _, e := range s.engines {
		s.want(e, "0 READY")
	}
	return s
}

// engine lets the next rank subscribe.
func (s *stand) engine() *ear {
	e := s.listen(s.Addresses().BackPublish, []byte(codec.Identity(len(s.engines))))
	s.engines = append(s.engines, e)
	synctest.Wait()
	return e
}

func (s *stand) open(socket transport.Socket) transport.Conn {
	s.Helper()
	conn, err := s.network.Open(s.Context(), socket)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	return conn
}

// ear is a subscriber that writes down what it hears, and when: the time since
// the stand began in milliseconds, and the message.
type ear struct {
	transport.Conn
	said []string
}

func (s *stand) listen(endpoint string, identity []byte) *ear {
	e := &ear{Conn: s.open(transport.Socket{Pattern: transport.XSub, Endpoint: endpoint, Identity: identity})}
	go func() { // ends with the Conn
		for {
			p, err := e.Recv(context.Background())
			if err != nil {
				return
			}
			e.said = append(e.said, fmt.Sprintf("%d %s", time.Since(s.began).Milliseconds(), written(p)))
		}
	}()
	s.send(e, "\x01")
	return e
}

// written puts a message of the coordinator's into words.
func written(p transport.Packet) string {
	switch {
	case len(p.Frames) == 1 && string(p.Frames[0]) == "READY":
		return "READY"
	case len(p.Frames) == 2 && string(p.Frames[0]) == "\x02":
		wave, exclude, err := codec.DecodeStartWave(p.Frames[1])
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("start %d %s", wave, whom(exclude))
	case len(p.Frames) == 1:
		c, err := codec.DecodeCounts(p.Frames[0])
		if err != nil {
			return err.Error()
		}
		rows := "-"
		if c.Rows != nil {
			rows = fmt.Sprint(c.Rows)
		}
		return fmt.Sprintf("%s %d %v", rows, c.Wave, c.Running)
	}
	return fmt.Sprintf("%q", p.Frames)
}

func whom(x codec.Exclude) string {
	switch {
	case !x.Set:
		return "all"
	case x.Identity:
		return fmt.Sprintf("but the identity of %d", x.Rank)
	}
	return fmt.Sprintf("but %d", x.Rank)
}

// send sends frames and lets the coordinator take them.
func (s *stand) send(to transport.Conn, frames ...string) {
	s.Helper()
	p := transport.Packet{Shared: len(frames)}
	for _, f := range frames {
		p.Frames = append(p.Frames, []byte(f))
	}
	if err := to.Send(p); err != nil {
		s.Fatalf("send %q: %v", frames, err)
	}
	synctest.Wait()
}

// first sends a first request.
func (s *stand) first(engine codec.Exclude, wave int) {
	s.Helper()
	s.send(s.client, string(codec.AppendCoordinatorCall(nil, codec.CoordinatorCall{Engine: engine, Wave: wave})))
}

func (s *stand) scale(engines int) {
	s.Helper()
	s.send(s.client, string(codec.AppendCoordinatorCall(nil, codec.CoordinatorCall{Scale: engines})))
}

// output sends what an engine says.
func (s *stand) output(o codec.Outputs) {
	s.Helper()
	payload, _, err := s.layout.AppendOutputs(nil, nil, &o)
	if err != nil {
		s.Fatal(err)
	}
	s.send(s.push, string(payload))
}

func (s *stand) started(wave, rank int) {
	s.Helper()
	s.output(codec.Outputs{Engine: rank, StartWave: &wave})
}
func (s *stand) complete(wave, rank int) {
	s.Helper()
	s.output(codec.Outputs{Engine: rank, WaveComplete: &wave})
}

// load sends a report as vLLM's engines build it.
func (s *stand) load(rank, wave, step, waiting, running int, kv float64) {
	s.Helper()
	o := codec.Outputs{Engine: rank}
	o.SetStats(&codec.SchedulerStats{
		NumWaiting: waiting, NumRunning: running, KVCacheUsage: kv, StepCounter: step, CurrentWave: wave,
	})
	s.output(o)
}

// pass lets time go by.
func (s *stand) pass(ms int) {
	time.Sleep(time.Duration(ms) * time.Millisecond)
	synctest.Wait()
}

// want compares what somebody heard since the last time with lines of "ms
// message".
func (s *stand) want(e *ear, lines ...string) {
	s.Helper()
	synctest.Wait()
	if got, want := strings.Join(e.said, "\n"), strings.Join(lines, "\n"); got != want {
		s.Errorf("heard:\n%s\nwant:\n%s", got, want)
	}
	e.said = nil
}
