// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/corepipe/corepipe/bench/replay"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport"
)

// plan is one run: the flags, and one value of those that can be lists.
type plan struct {
	*runCmd
	transport string // where data goes: inproc, ipc or tcp
	policy    string
	engines   int
	warmup    int
}

// ours says that this command starts the engines.
func (p *plan) ours() bool { return p.Handshake == "" && !p.Attach }

// plans checks the flags and lists the runs, at least one.
func (c *runCmd) plans() ([]*plan, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	engines, warmup := 4, min(c.Requests/10, 1000)
	if c.Handshake != "" || c.Attach {
		engines, warmup = 1, 0
	}
	if c.Engines != nil {
		engines = *c.Engines
	}
	if c.Warmup != nil {
		warmup = *c.Warmup
	}
	var list []*plan
	for _, t := range c.transports() {
		for _, name := range c.Policy {
			list = append(list, &plan{runCmd: c, transport: t, policy: name, engines: engines, warmup: warmup})
		}
	}
	return list, nil
}

// transports are the given ones, or the one that the addresses ask for.
func (c *runCmd) transports() []string {
	if len(c.Transport) > 0 {
		return c.Transport
	}
	for _, address := range []string{c.Input, c.Handshake} {
		if scheme, _, ok := strings.Cut(address, "://"); ok {
			return []string{scheme}
		}
	}
	return []string{"inproc"}
}

// newPolicy gives a policy by its name; each run gets a new one, for they hold state.
func newPolicy(name string) (policy.Policy, error) {
	p, err := namedPolicy(name, 1, replay.Fleet{})
	if err != nil {
		return nil, &usageError{"--policy", err}
	}
	return p, nil
}

// bind is where addresses are made up that no flag gives: over tcp on the
// interface on which engines found the handshake.
func (p *plan) bind() string {
	if p.transport != "tcp" {
		return ""
	}
	e, err := transport.ParseEndpoint(p.Handshake, true)
	if err != nil || e.Scheme != "tcp" || e.Any() {
		return "tcp://127.0.0.1:0"
	}
	e.Port = 0
	return e.String()
}
