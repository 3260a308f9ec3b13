// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo && unix

package coordinator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/transport/zmq"
	"github.com/google/go-cmp/cmp"
)

// COREPIPE_VLLM is a directory with a virtual environment that has vLLM, whose
// coordinator and ours hear the same script and must say the same, byte by byte
// and in the same order.
func TestWeSayWhatVLLMsCoordinatorSays(t *testing.T) {
	directory := os.Getenv("COREPIPE_VLLM")
	if directory == "" {
		t.Skip("COREPIPE_VLLM is not set: nothing was compared with vLLM's coordinator")
	}
	coordinators := newTheirs(t, directory)
	for _, lockstep := range []bool{true, false} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("lockstep=%v/seed=%d", lockstep, seed), func(t *testing.T) {
				t.Parallel()
				compare(t, coordinators, lockstep, seed)
			})
		}
	}
}

// compare plays a script to both. What depends on time is the same at a pace
// that suits a busy machine; what is really different is so at every pace.
func compare(t *testing.T, coordinators *theirs, lockstep bool, seed uint64) {
	script := newScript(rand.New(rand.NewPCG(seed, 5)), lockstep)
	for pace := time.Duration(1); ; pace *= 2 {
		places := [2]string{socketDir(t), socketDir(t)}
		coordinators.start(t, lockstep, places[0])
		startOurs(t, lockstep, places[1])
		var heard [2]map[string][]string
		var both sync.WaitGroup
		for i, directory := range places {
			both.Go(func() { heard[i] = play(t, directory, script, pace) })
		}
		both.Wait()
		d := cmp.Diff(heard[0], heard[1])
		if d == "" && !t.Failed() {
			t.Logf("%d messages were the same, in answer to %d", count(heard[1]), len(script))
			return
		}
		if pace == 4 || t.Failed() {
			t.Fatalf("theirs (-), ours (+):\n%s", d)
		}
		t.Logf("at pace %d:\n%s", pace, d)
	}
}

func count(heard map[string][]string) (n int) {
	for _, lines := range heard {
		n += len(lines)
	}
	return n
}

const scriptEngines = 2

// addressesIn are the places of a coordinator's sockets.
func addressesIn(directory string) coordinator.Addresses {
	return coordinator.Addresses{
		Front: "ipc://" + directory + "/f", BackPublish: "ipc://" + directory + "/p", BackOutput: "ipc://" + directory + "/o",
	}
}

// socketDir is a new directory with a short name: t.TempDir's may be over what
// a socket path holds.
func socketDir(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "c") //nolint:usetesting // t.TempDir is named after the test, too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	return directory
}

// theirs is a process that starts vLLM's coordinators on demand.
type theirs struct {
	mu       sync.Mutex
	requests *json.Encoder
}

func newTheirs(t *testing.T, directory string) *theirs {
	t.Helper()
	python, err := filepath.Abs(filepath.Join(directory, "bin", "python"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-B", "testdata/coordinator.py")
	said, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = said, said
	life, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = life.Close() // the coordinators end with their parent
		_ = cmd.Wait()
		_ = said.Close()
		if text, _ := os.ReadFile(said.Name()); t.Failed() {
			t.Logf("vLLM said:\n%s", text)
		}
	})
	return &theirs{requests: json.NewEncoder(life)}
}

func (c *theirs) start(t *testing.T, lockstep bool, directory string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	a := addressesIn(directory)
	if err := c.requests.Encode(map[string]any{
		"engine_count": scriptEngines, "enable_wave_coordination": lockstep, "front_publish_address": a.Front,
		"back_publish_address": a.BackPublish, "back_output_address": a.BackOutput,
	}); err != nil {
		t.Fatal(err)
	}
}

func startOurs(t *testing.T, lockstep bool, directory string) {
	t.Helper()
	network := newZMQ(t)
	a := addressesIn(directory)
	c, err := coordinator.Start(context.Background(), coordinator.Config{
		Transport: network, Engines: scriptEngines, Lockstep: lockstep,
		Front: a.Front, BackPublish: a.BackPublish, BackOutput: a.BackOutput,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if n := c.Counters(); n.Malformed+n.Stale > 0 {
			t.Errorf("counters %+v", n)
		}
	})
}

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

// bound waits until a coordinator listens everywhere; vLLM takes its time.
func bound(t *testing.T, directory string) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); <-tick.C {
		if files, err := os.ReadDir(directory); err == nil && len(files) == 3 {
			return true
		}
	}
	t.Errorf("nobody listens in %s", directory)
	return false
}
