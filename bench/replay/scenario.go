// SPDX-License-Identifier: Apache-2.0

package replay

import "time"

// Scenario is a workload and the fleet that gets it, under a name.
type Scenario struct {
	Name  string
	About string // what is special, in a few words
	Fleet
	Workload
}

// Scenarios are those that policies differ in, all with sixteen engines and reports
// every 100 ms. Each is busy and stable: rates are about 70 % of those at which the
// queues of LeastLoaded would grow without end.
//
// In "prefix" all engines together have room for the prefixes twice, and each for an
// eighth of them. Where fewer of them make up most of the requests, every engine has
// those before long, whatever the policy: with 256 prefixes and Zipf 1 LeastLoaded
// hits 47 % and Prefix 77 %, of 85 % that could be.
func Scenarios() []Scenario {
	fleet := Fleet{Engines: 16, Report: 100 * time.Millisecond}
	steady := Workload{Requests: 5000, Rate: 160}
	all := []Scenario{
		{"steady", "Poisson arrivals of requests of all lengths", fleet, steady},
		{"bursty", "the same in bursts", fleet, steady},
		{"unequal", "every fourth engine is half as fast", fleet, steady},
		{"prefix", "512 prefixes of 2048 tokens, some more popular: eight times what an engine can hold", fleet, steady},
		{"sessions", "conversations of six turns on average", fleet, steady},
		{"silent", "the coordinator says its last word after 5 s", fleet, steady},
		{"death", "an engine dies after 10 s, and is back after 20 s", fleet, steady},
	}
	for i := range all {
		switch s := &all[i]; s.Name {
		case "bursty":
			s.Burstiness = 0.1
		case "unequal":
			s.Speeds, s.Rate = []float64{1, 1, 1, 0.5}, 140
		case "prefix":
			s.Prefixes, s.PrefixTokens, s.Zipf, s.Rate = 512, 2048, 0.8, 90
			s.Prompt = Lognormal(256, 0.8)
		case "sessions":
			s.Turns, s.Rate = 6, 100
			s.Prompt = Lognormal(128, 1)
		case "silent":
			s.Silent = 5 * time.Second
		case "death":
			s.Dies, s.Returns = 10*time.Second, 20*time.Second
		}
	}
	return all
}
