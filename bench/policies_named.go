// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/corepipe/corepipe/bench/replay"
	"github.com/corepipe/corepipe/policy"
)

// policies are the names of those to compare.
func (c *policiesCmd) policies() []string {
	if len(c.Policy) > 0 {
		return c.Policy
	}
	return []string{
		"least-loaded", "least-loaded-legacy", "shortest-wait", "least-tokens", "power-of-two", "round-robin", "random",
		"weighted+least-loaded", "session", "session+shortest-wait", "prefix", "prefix+shortest-wait",
	}
}

// namedPolicy makes the policy of a name: that of one, or outer+inner, where Next of the
// outer one is the inner one. weighted knows the speeds of the fleet.
func namedPolicy(name string, seed uint64, f replay.Fleet) (policy.Policy, error) {
	outer, inner, wraps := strings.Cut(name, "+")
	plain, wrapping := plainPolicies(seed), wrappingPolicies(f)
	if make := plain[outer]; make != nil && !wraps {
		return make(), nil
	}
	make := wrapping[outer]
	if make == nil {
		return nil, fmt.Errorf("%q is none of %s; nor of these, which may have +another: %s", name, list(plain), list(wrapping))
	}
	if !wraps {
		return make(nil), nil
	}
	next, err := namedPolicy(inner, seed, f)
	if err != nil {
		return nil, err
	}
	return make(next), nil
}

func plainPolicies(seed uint64) map[string]func() policy.Policy {
	return map[string]func() policy.Policy{
		"least-loaded":        func() policy.Policy { return &policy.LeastLoaded{} },
		"least-loaded-legacy": func() policy.Policy { return &policy.LeastLoadedLegacy{Rotate: true} },
		"shortest-wait":       func() policy.Policy { return &policy.ShortestWait{} },
		"least-tokens":        func() policy.Policy { return &policy.LeastTokens{} },
		"power-of-two":        func() policy.Policy { return &policy.PowerOfTwo{Seed: seed} },
		"round-robin":         func() policy.Policy { return &policy.RoundRobin{} },
		"random":              func() policy.Policy { return &policy.Random{Seed: seed} },
	}
}

func wrappingPolicies(f replay.Fleet) map[string]func(next policy.Policy) policy.Policy {
	return map[string]func(next policy.Policy) policy.Policy{
		"session":          func(next policy.Policy) policy.Policy { return &policy.Session{Next: next} },
		"lora":             func(next policy.Policy) policy.Policy { return &policy.LoRA{Next: next} },
		"late-interaction": func(next policy.Policy) policy.Policy { return &policy.LateInteraction{Next: next} },
		"prefix":           func(next policy.Policy) policy.Policy { return &policy.Prefix{Next: next} },
		"weighted": func(next policy.Policy) policy.Policy {
			w, speeds := &policy.Weighted{Next: next}, map[int]float64{}
			for rank := range f.Engines * min(len(f.Speeds), 1) {
				speeds[rank] = f.Speeds[rank%len(f.Speeds)]
			}
			w.Set(speeds)
			return w
		},
	}
}

// list is the names in a table.
func list[T any](table map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(table)), ", ")
}
