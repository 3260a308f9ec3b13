// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport/inproc"
)

func TestEnginesOfDifferentReleasesEachGetTheirLayout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		releases := []string{"0.32.0", "0.20.2", "0.16.0", "0.32.0"}
		c, peers, _ := connectReleases(t, releases, func(c *pipeline.Config) { c.Policy = &policy.RoundRobin{} })
		for round, p := range append(slices.Clone(peers), peers...) {
			r := simple("r" + string(rune('a'+round)))
			r.Priority, r.TraceHeaders = 3, map[string]string{"k": "v"}
			s := submit(t, c, r)
			if m := p.next(); m.request.ID != r.ID || m.request.Priority != 3 || m.request.TraceHeaders["k"] != "v" {
				t.Fatalf("engine %d (%s) got %+v", p.rank, releases[p.rank], m.request)
			}
			p.rows(row(r.ID, codec.FinishNone, 7))
			p.rows(row(r.ID, codec.FinishLength, 8))
			if tokens, finish, err := read(s); err != nil || finish != codec.FinishLength || !slices.Equal(tokens, []uint32{7, 8}) {
				t.Fatalf("engine %d: got %v, %v, %v", p.rank, tokens, finish, err)
			}
		}
		if n := c.Counters().Reencoded; n != 4 {
			t.Errorf("%d were encoded again, want those of the two odd engines", n)
		}
	})
}

// newer has a field that is there since 0.28.0 in silence, and one since 0.21.0
// that changes what happens.
func newer(id string) *codec.Request {
	r := simple(id)
	r.AbortImmediately = true
	return r
}

func TestAnEngineThatLacksAFieldIsNoCandidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, releases := range [][]string{{"0.20.2", "0.32.0", "0.20.2"}, {"0.32.0", "0.32.0", "0.20.2"}} {
			c, peers, _ := connectReleases(t, releases, func(c *pipeline.Config) { c.Policy = &policy.RoundRobin{} })
			for i := range 4 {
				submit(t, c, newer("r"+string(rune('a'+i))))
			}
			synctest.Wait()
			for _, e := range c.Engines() {
				if e.Release == "0.20.2" && e.InFlight != 0 {
					t.Errorf("%v: engine %d has %d of them", releases, e.Rank, e.InFlight)
				}
			}
			for i, p := range peers {
				if releases[i] == "0.32.0" && !p.next().request.AbortImmediately {
					t.Errorf("%v: engine %d did not get the field", releases, i)
				}
			}
			shut(t, c)
		}
	})
}

func TestAFieldThatNoEngineHasIsUnsupported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, releases := range [][]string{{"0.20.2"}, {"0.20.2", "0.16.0"}} {
			c, peers, _ := connectReleases(t, releases)
			err := failure(submit(t, c, newer("r")))
			var f *codec.FieldError
			if !errors.Is(err, codec.ErrUnsupported) || !errors.As(err, &f) || f.Field != "abort_immediately" || !strings.Contains(err.Error(), "0.21.0") {
				t.Errorf("%v: got %v", releases, err)
			}
			s := submit(t, c, simple("good"))
			peers[0].next()
			survives(t, peers[0], s)
			shut(t, c)
		}
	})
}

func TestAPinToAnEngineThatLacksAFieldIsUnsupported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, _ := connectReleases(t, []string{"0.32.0", "0.20.2"})
		r := newer("r")
		r.DataParallelRank = new(1)
		if err := failure(submit(t, c, r)); !errors.Is(err, codec.ErrUnsupported) {
			t.Fatalf("got %v", err)
		}
	})
}

// readyAs connects to one engine that says payload, with a Config that names release.
func readyAs(t *testing.T, payload, release string) (*pipeline.Client, *peer, error) {
	net := new(inproc.Network)
	p := dial(t, net, fixedInput, fixedOutput, 0)
	p.send(p.in, []byte(payload))
	c, err := pipeline.Connect(t.Context(), pipeline.Config{Transport: net, Input: fixedInput, Output: fixedOutput, Release: release})
	return c, p, err
}

const (
	onlyLength = "\x81\xadmax_model_len\x64"
	withDType  = "\x82\xadmax_model_len\x64\xa5dtype\xa1x"
	fromSource = "\x82\xadmax_model_len\x64\xacvllm_version\xa3dev"
)

func TestTheReleaseOfAnEngineThatDoesNotNameIt(t *testing.T) {
	for name, c := range map[string]struct {
		ready, given, speaks string // speaks is empty for an error
	}{
		"an empty message and Config.Release":         {"", "0.16.0", "0.16.0"},
		"an empty message and nothing else":           {"", "", ""},
		"three keys: 0.20.0":                          {onlyLength, "", "0.20.0"},
		"three keys: 0.20.2":                          {onlyLength, "", "0.20.2"},
		"three keys: 0.21.0":                          {onlyLength, "", "0.21.0"},
		"three keys and Config.Release":               {onlyLength, "0.18.0", "0.18.0"},
		"a data type: 0.22.0":                         {withDType, "", "0.22.0"},
		"a version that is none":                      {fromSource, "", ""},
		"a version that is none, and Config.Release":  {fromSource, "0.31.0", "0.31.0"},
		"a version that is none, and one that is old": {fromSource, "0.9.2", "0.9.2"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, p, err := readyAs(t, c.ready, c.given)
				if c.speaks == "" {
					if e, ok := errors.AsType[*pipeline.EngineError](err); !ok || !errors.Is(err, pipeline.ErrNoRelease) || e.Rank != 0 {
						t.Fatalf("got %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer shut(t, client)
				p.speaking(c.speaks)
				s := submit(t, client, simple("r"))
				if r := p.next().request; r.ID != "r" || r.Sampling.MaxTokens != 8 || !slices.Equal(r.Prompt, []uint32{1, 2, 3}) {
					t.Fatalf("got %+v", r)
				}
				survives(t, p, s)
			})
		})
	}
}

func TestWhatReleasesReadDifferentlyIsNotSentToAnEngineThatMayBeEither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p, err := readyAs(t, onlyLength, "")
		if err != nil {
			t.Fatal(err)
		}
		defer shut(t, c)
		r := simple("r")
		r.Priority = 1
		if err := failure(submit(t, c, r)); !errors.Is(err, codec.ErrUnsupported) {
			t.Fatalf("got %v", err)
		}
		s := submit(t, c, simple("good"))
		p.speaking("0.20.2").next()
		survives(t, p, s)
	})
}

func TestAnAttachedEngineIsKnownByItsAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		speaks, given string
		ok            bool
	}{
		"the default, and it is":      {"0.32.0", "", true},
		"the default, and it is not":  {"0.31.0", "", false},
		"the right one":               {"0.20.2", "0.20.2", true},
		"a newer one than it can be":  {"0.20.2", "0.33.0", false},
		"an older one than it can be": {"0.33.0", "0.20.2", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := new(inproc.Network)
				p := dial(t, net, fixedInput, fixedOutput, 0).speaking(c.speaks)
				go func() { p.answer(p.next().call.CallID, false) }()
				client, err := pipeline.Connect(t.Context(), pipeline.Config{
					Transport: net, Attach: true, Input: fixedInput, Output: fixedOutput, Release: c.given,
				})
				if err == nil {
					defer shut(t, client)
				}
				if c.ok != (err == nil) || !c.ok && !errors.Is(err, pipeline.ErrNoRelease) {
					t.Fatalf("got %v", err)
				}
			})
		})
	}
}
