// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/corepipe/corepipe/bench/replay"
)

// scenario is one with its trace.
type scenario struct {
	replay.Scenario
	trace replay.Trace
}

// scenarios are those to replay, changed as the flags say.
func (c *policiesCmd) scenarios(t terminal) ([]*scenario, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	chosen, err := c.chosen()
	if err != nil {
		return nil, err
	}
	var all []*scenario
	for _, s := range chosen {
		c.changeFleet(&s)
		c.changeWorkload(&s.Workload)
		made := &scenario{Scenario: s}
		if c.Trace != "" {
			err = c.read(t, made)
		} else if made.trace, err = s.Trace(c.Seed); err != nil {
			err = &usageError{err: err}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

// read gives s the trace of --trace.
func (c *policiesCmd) read(t terminal, s *scenario) error {
	text, where, err := readInput(t, c.Trace, "a trace")
	if err != nil {
		return err
	}
	if s.trace, err = replay.Read(bytes.NewReader(text)); err != nil {
		return &usageError{"--trace", fmt.Errorf("%s: %w", where, err)}
	}
	s.Name, s.About = filepath.Base(where), "replayed on the engines of "+s.Name
	return nil
}

// chosen are the scenarios that --scenario names, all of them without it.
func (c *policiesCmd) chosen() ([]replay.Scenario, error) {
	known := replay.Scenarios()
	if len(c.Scenario) == 0 {
		if c.Trace != "" {
			return known[:1], nil
		}
		return known, nil
	}
	var chosen []replay.Scenario
	for _, name := range c.Scenario {
		i := slices.IndexFunc(known, func(s replay.Scenario) bool { return s.Name == name })
		if i < 0 {
			return nil, &usageError{"--scenario", fmt.Errorf("%q is none of %s", name, names(known))}
		}
		chosen = append(chosen, known[i])
	}
	return chosen, nil
}

func names(all []replay.Scenario) string {
	var n []string
	for _, s := range all {
		n = append(n, s.Name)
	}
	return strings.Join(n, ", ")
}

// check finds flags that do not go together. replay says what is wrong with numbers.
func (c *policiesCmd) check() error {
	var changed replay.Workload
	c.changeWorkload(&changed)
	switch {
	case c.Trace != "" && changed != replay.Workload{}:
		return &usageError{"--trace", errors.New("goes without flags that make a trace, such as --rate")}
	case c.Trace != "" && len(c.Scenario) > 1:
		return &usageError{"--trace", errors.New("takes one --scenario, for its engines")}
	case c.Trace != "" && c.WriteTrace != "":
		return &usageError{"--write-trace", errors.New("goes without --trace")}
	case c.WriteTrace != "" && len(c.Scenario) != 1:
		return &usageError{"--write-trace", errors.New("needs one --scenario")}
	case c.Engines != nil && (*c.Engines < 1 || *c.Engines > replay.MaxEngines):
		return &usageError{"--engines", fmt.Errorf("must be 1 to %d, is %d", replay.MaxEngines, *c.Engines)}
	case c.WriteTrace == "-" && (c.JSON != "" || c.Plot != ""):
		return &usageError{"--write-trace", errors.New("to standard output replays nothing, so that there is no JSON and no plot")}
	case (c.On == nil) != (c.Off == nil):
		return &usageError{"--on", errors.New("goes together with --off")}
	}
	for _, name := range c.policies() {
		if _, err := namedPolicy(name, c.Seed, replay.Fleet{}); err != nil {
			return &usageError{"--policy", err}
		}
	}
	return nil
}

func (c *policiesCmd) changeFleet(s *replay.Scenario) {
	f := &s.Fleet
	if c.Engines != nil {
		s.Rate *= float64(*c.Engines) / float64(f.Engines) // each is as busy as before
		f.Engines = *c.Engines
	}
	change(&f.Report, c.Report)
	change(&f.Silent, c.SilentAt)
	change(&f.Dies, c.DieAt)
	change(&f.Returns, c.ReturnAt)
	if len(c.Speeds) > 0 {
		f.Speeds = c.Speeds
	}
	f.Model = replay.Model{
		StepTime: c.StepTime, PromptTokenTime: c.PromptTokenTime, RunningTime: c.RunningTime,
		MaxBatch: c.MaxBatch, MaxBatchedTokens: c.BatchedTokens, KVTokens: c.KVTokens,
	}
}

func (c *policiesCmd) changeWorkload(w *replay.Workload) {
	change(&w.Requests, c.Requests)
	change(&w.Rate, c.Rate)
	change(&w.Burstiness, c.Burstiness)
	change(&w.On, c.On)
	change(&w.Off, c.Off)
	change(&w.Prompt, c.Prompt)
	change(&w.Output, c.Output)
	change(&w.Prefixes, c.Prefixes)
	change(&w.PrefixTokens, c.PrefixTokens)
	change(&w.Zipf, c.Zipf)
	change(&w.Turns, c.Turns)
	change(&w.Think, c.Think)
}

// change sets what a flag was given for.
func change[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
