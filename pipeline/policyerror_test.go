// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"errors"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/policy"
)

func TestABadChoiceFailsThatRequestAlone(t *testing.T) {
	type check func(error) bool
	pick := func(i int) policy.Func { return func(policy.Request, []policy.Engine) int { return i } }
	policyError := func(err error) bool { var p *pipeline.PolicyError; return errors.As(err, &p) }
	for name, c := range map[string]struct {
		policy policy.Policy
		ok     check
	}{
		"an index too large":  {pick(2), policyError},
		"an index below -1":   {pick(-2), policyError},
		"none will do":        {pick(-1), func(err error) bool { return errors.Is(err, pipeline.ErrNoEngine) }},
		"a panic in the pick": {policy.Func(func(policy.Request, []policy.Engine) int { panic("no") }), policyError},
	} {
		t.Run(name, func(t *testing.T) {
			s, routed := routeOne(t, c.policy, 2, request("r", nil, "", ""))
			_, err := s.Next(t.Context())
			var r *pipeline.RequestError
			if !errors.As(err, &r) || r.Op != "route" || r.ID != "r" || !c.ok(err) || len(routed) != 0 {
				t.Fatalf("got %v and %d packets", err, len(routed))
			}
		})
	}
}

func TestAPinIndexesTheManagedRanksAndIsNeverIgnored(t *testing.T) {
	never := policy.Func(func(policy.Request, []policy.Engine) int { panic("asked about a pin") })
	if _, routed := routeOne(t, never, 3, request("r", new(2), "", "")); len(routed) != 1 || routed[0].Rank != 2 {
		t.Fatalf("went to %v", routed)
	}
	for _, pin := range []int{-1, 3} {
		s, _ := routeOne(t, never, 3, request("r", &pin, "", ""))
		_, err := s.Next(t.Context())
		var p *pipeline.PinError
		if !errors.As(err, &p) || p.Pin != pin || len(p.Ranks) != 3 {
			t.Fatalf("pin %d: got %v", pin, err)
		}
	}
}

func TestThePolicySeesTheRequest(t *testing.T) {
	var got policy.Request
	r := request("r", nil, "", "")
	r.LoRA = &codec.LoRARequest{Name: "sql", ID: 1, Path: "/p"}
	r.SessionID, r.CacheSalt, r.Priority = "s", "salt", -3
	routeOne(t, policy.Func(func(q policy.Request, _ []policy.Engine) int { got = q; return 0 }), 1, r)
	if got.ID != "r" || got.LoRA != "sql" || got.Session != "s" || got.CacheSalt != "salt" ||
		got.Priority != -3 || got.Prompt != 1 || got.MaxTokens != 1 || len(got.Tokens) != 1 {
		t.Fatalf("got %+v", got)
	}
}
