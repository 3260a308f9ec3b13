// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"time"
)

// workload is what is sent: so many requests of so many tokens.
type workload struct {
	Requests     int `json:"requests"`
	Concurrency  int `json:"concurrency"`
	PromptTokens int `json:"prompt_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// newWorkload gives a workload by its name.
func newWorkload(name string) (workload, bool) {
	switch name {
	case "short":
		return workload{20000, 256, 128, 32}, true
	case "long":
		return workload{2000, 64, 4096, 128}, true
	}
	return workload{}, false
}

// quickly is the part of the requests that --quick leaves.
const quickly = 20

// warmup is how many requests go before the measured ones.
func (w workload) warmup() int { return min(1000, w.Requests/2) }

// tokens is what comes out of it.
func (w workload) tokens() int { return w.Requests * w.OutputTokens }

// setting is a workload and the engines that it is put on.
type setting struct {
	workload
	Engines   int    `json:"engines"`
	Transport string `json:"transport"`
	StepTime  int64  `json:"step_us"` // µs
}

func (s setting) String() string {
	step := "unpaced"
	if s.StepTime > 0 {
		step = s.step().String() + " a step"
	}
	return fmt.Sprintf("%d requests of %d prompt and %d output tokens, %d at a time; engines: %d, %s, %s",
		s.Requests, s.PromptTokens, s.OutputTokens, s.Concurrency, s.Engines, s.Transport, step)
}

func (s setting) step() time.Duration { return time.Duration(s.StepTime) * time.Microsecond }

// settings are those that the flags ask for, once checked.
func (c *compareCmd) settings() (list []setting) {
	steps, transports := []time.Duration{time.Millisecond}, []string{"ipc"}
	if c.All {
		steps = []time.Duration{0, 100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond}
		transports = []string{"ipc", "tcp"}
	}
	for _, name := range orElse(c.Workload, []string{"short", "long"}) {
		w, _ := newWorkload(name)
		if c.Quick {
			w.Requests /= quickly
		}
		for _, engines := range orElse(c.Engines, []int{1, 4}) {
			for _, transport := range orElse(c.Transport, transports) {
				for _, step := range orElse(c.StepTime, steps) {
					list = append(list, setting{w, engines, transport, step.Microseconds()})
				}
			}
		}
	}
	return list
}

// orElse is the list that was given, without what it has twice, or the usual one.
func orElse[T comparable](given, usual []T) []T {
	if len(given) == 0 {
		return usual
	}
	var once []T
	for _, v := range given {
		if !slices.Contains(once, v) {
			once = append(once, v)
		}
	}
	return once
}
