// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// mockEngines are engines of a mock_engine that shake hands with a client of ours.
type mockEngines struct {
	child
	setting
}

// engines are as the floor and vLLM's client start theirs.
func (c *compareCmd) engines(s setting, endpoint, directory string) mockEngines {
	finished := "off"
	if s.Engines > 1 {
		finished = "on" // as with vLLM's coordinator, so that the messages are alike
	}
	return mockEngines{setting: s, child: child{path: c.Mock, directory: directory, args: []string{
		"--handshake", endpoint, "--engines", strconv.Itoa(s.Engines), "--step-us", strconv.FormatInt(s.StepTime, 10),
		"--max-batch", strconv.Itoa(maxBatch), "--vocab", strconv.Itoa(vocab), "--finished-set", finished,
		"--die-with-parent", "--quiet", "--max-seconds", strconv.Itoa(int(maxRun.Seconds())),
	}}}
}

// errEnginesEnded ends a client whose engines have ended.
var errEnginesEnded = errors.New("ended before the client did")

// around runs a client while the engines run. Engines that end before it end it too,
// and are then what went wrong.
func (m mockEngines) around(ctx context.Context, client child) ([]byte, error) {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	ctx, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	var said []byte
	var failed error
	over := make(chan struct{})
	go func() { // ends with the engines, which stop ends
		defer close(over)
		if said, failed = m.run(serving); serving.Err() == nil {
			gone(errEnginesEnded)
		}
	}()
	out, err := client.run(ctx)
	early := errors.Is(context.Cause(ctx), errEnginesEnded)
	stop()
	<-over
	switch {
	case early && failed != nil:
		return nil, failed
	case early:
		return nil, fmt.Errorf("%s: %w; it said: %s", m.path, errEnginesEnded, said)
	case err != nil:
		return nil, err
	}
	return out, m.checkSummary(said)
}

// checkSummary reads what the engines saw.
func (m mockEngines) checkSummary(b []byte) error {
	s, err := decodeOnly[mockSummary](b)
	if err != nil {
		return fmt.Errorf("%s: %w", m.path, err)
	}
	if want := m.Requests + m.warmup(); s.Adds != want || s.Finished != want || s.BadFrames != 0 || s.Duplicates != 0 || s.Engines != m.Engines {
		return fmt.Errorf("%s: engines saw %d requests and finished %d of %d, with %d bad frames and %d ids twice",
			m.path, s.Adds, s.Finished, want, s.BadFrames, s.Duplicates)
	}
	return nil
}

// mockSummary is what a mock_engine says at its end.
type mockSummary struct {
	Engines    int     `json:"engines"`
	Adds       int     `json:"adds"`
	Finished   int     `json:"finished"`
	Aborts     int     `json:"aborts"`
	AbortHits  int     `json:"abort_hits"`
	Utilities  int     `json:"utilities"`
	Waves      int     `json:"waves"`
	Steps      int     `json:"steps"`
	Messages   int     `json:"messages"`
	Tokens     int     `json:"tokens"`
	Bytes      int     `json:"bytes"`
	PerMessage float64 `json:"tokens_per_message"`
	BadFrames  int     `json:"bad_frames"`
	Duplicates int     `json:"duplicate_ids"`
	Garbage    int     `json:"garbage"`
	CPU        float64 `json:"engine_cpu_s"`
}
