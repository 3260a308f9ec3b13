// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo && linux

package main_test

import (
	"net"
	"testing"
	"time"

	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/launch"
	"github.com/corepipe/corepipe/policy"
)

// two lets the process be two engines.
var two = []string{"--data-parallel-size", "2", "--data-parallel-size-local", "2"}

// Two engines that know nothing of each other. They keep their statistics to
// themselves, so that what the client knows of their load is our coordinator's word.
func TestTwoRealEnginesUnderOurCoordinator(t *testing.T) {
	e := newVLLM(t)
	e.start(append(two, "--disable-log-stats", "--max-num-seqs", "8")...)
	co := ourCoordinator(t, false)
	c := connectDP(t, pipeline.Config{Launch: &launch.Handshake{Endpoint: e.endpoint}, Coordinator: co.Addresses()})
	heard := listen(t, co.Addresses().Front)
	reports := reported(t, c)
	began := time.Now()
	answers := all(t, c, 200, prompts("r", 400, func(int) int { return 16 }))
	t.Logf("400 requests in %v", time.Since(began))
	wantHalves(t, shares(answers))
	soon(t, 10*time.Second, "report of idle engines", func() bool {
		engines := c.Engines()
		return engines[0].Load.Running+engines[0].Load.Waiting+engines[1].Load.Running+engines[1].Load.Waiting == 0
	})
	wantReports(t, reports(), heard)
	for _, e := range c.Engines() {
		if e.Ready == nil || e.Ready.StatsAddress != co.Addresses().Front || e.Age > pipeline.DefaultStaleAfter {
			t.Errorf("engine %d: last report %v ago, ready message %+v", e.Rank, e.Age, e.Ready)
		}
	}
	if n := co.Counters(); n.Reports < 100 {
		t.Errorf("coordinator's counters are %+v, want reports of every change", n)
	}
	for d, n := range c.Decisions() {
		if d.Reason != policy.LeastLoad {
			t.Errorf("%d choices were %+v, want all by load", n, d)
		}
	}
}

// Two ranks of a mixture-of-experts model, which step together.
func TestTwoRealRanksInLockstepUnderOurCoordinator(t *testing.T) {
	e := newVLLM(t)
	co := ourCoordinator(t, true)
	b := e.lockstep(co.Addresses())
	b.patient(50)
	if n := co.Counters(); n.Waves < 50 || n.Wakes < 50 || n.FirstRequests < 50 {
		t.Errorf("coordinator's counters are %+v, want 50 waves, first requests and wakes", n)
	}
	b.impatient(50, 400*time.Millisecond)
	b.report()
}

func TestTwoRealRanksInLockstepUnderVLLMsCoordinator(t *testing.T) {
	e := newVLLM(t)
	b := e.lockstep(vllmCoordinator(t)(t, true))
	b.patient(50)
	b.impatient(50, 400*time.Millisecond)
	b.report()
}

// lockstep starts two ranks and connects to them.
func (e *vllm) lockstep(a pipeline.CoordinatorAddresses) *bursts {
	t := e.T
	t.Helper()
	e.serve("testdata/tiny-moe", two...)
	began := time.Now()
	c := connectDP(t, pipeline.Config{
		Launch:      &launch.Handshake{Endpoint: e.endpoint, ParallelConfig: parallelConfig(t)},
		Coordinator: a, Lockstep: true,
	})
	t.Logf("ready after %v", time.Since(began))
	return newBursts(t, c, listen(t, a.Front))
}

// parallelConfig is what ranks in lockstep are told of each other.
func parallelConfig(t *testing.T) map[string]any {
	t.Helper()
	var ports []any
	for range 7 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return map[string]any{
		"data_parallel_master_ip": "127.0.0.1", "data_parallel_master_port": ports[0],
		"_data_parallel_master_port_list": ports[1:], "_coord_store_port": 0, "data_parallel_size": 2,
	}
}
