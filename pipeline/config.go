// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"cmp"
	"context"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport"
)

// Config says what a Client connects to. Transport is required, and one way to
// meet the engines: Launch, Attach, or neither, for engines that others start
// with the addresses of Input and Output and that are still to say that they are
// ready.
type Config struct {
	Transport transport.Transport
	Launch    Launcher // hands out the addresses; see package launch
	// Attach takes over engines that run already at Input and Output and said
	// ready to somebody else. Release must name what they are, if it is not
	// codec.DefaultRelease, as far as can be seen; requests need their MaxTokens.
	Attach bool

	Engines   int // managed engines. Default 1
	FirstRank int // their ranks are FirstRank, FirstRank+1, …
	// Input and Output are the addresses to bind. Default: under Bind.
	// With Launch and no Output each engine gets an output address of its own,
	// so that each is decoded on its own and a death has a name.
	Input, Output string
	// Bind is where addresses are made up: "ipc" (the default), sockets in the
	// temporary directory, or a tcp address such as "tcp://127.0.0.1:0".
	Bind string
	// Release is the vLLM release of engines that do not tell: those before
	// 0.23.0, and those that are attached to, for which codec.DefaultRelease is
	// the default. Without it an engine before 0.20.0 is refused (ErrNoRelease),
	// and one from 0.20.0 to 0.21.0 gets only requests that these releases read
	// alike. What an engine says of itself counts before it.
	Release string

	Policy policy.Policy       // Default: vLLM's choice (policy.LateInteraction over policy.LeastLoaded)
	Wire   func(*Group, Parts) // joins the stages. Default Wire
	Buffer int                 // capacity of each channel between stages. Default 16
	// MaxInFlight bounds the live requests; Submit waits for room. Default 65,536.
	MaxInFlight int
	// ConnectTimeout bounds Connect as a whole. Default 600 s.
	ConnectTimeout time.Duration
	// ProbeInterval is how long an engine that has work may be silent before
	// the transport is asked whether it is still there. Default 1 s; negative: never.
	// An engine that is there and silent is waited for: give requests a deadline.
	ProbeInterval time.Duration
	// StreamInterval is how many tokens a reader that waits is woken for: its outputs
	// come merged, the first and the last at once. A request's own (vLLM:
	// SamplingParams.stream_interval) goes before it. Default: each as it comes.
	StreamInterval int
	StaleAfter     time.Duration // age at which a load report is dropped. Default 10 s

	// Coordinator is the data-parallel coordinator of the engines, if they have
	// one. Default: Front as the engines' ready messages name it (vLLM:
	// dp_stats_address). Its reports count ranks from 0, of which this client
	// takes those that it manages. Launch tells the engines the other two.
	Coordinator CoordinatorAddresses

	ClientIndex, ClientCount int  // which of several front ends this is; 0 of 1
	Lockstep                 bool // the engines are one MoE group: one death ends all
	FaultTolerance           bool // the engines run with fault tolerance: its calls may be sent
	Observer                 any  // what implements parts of Observer
}

// Defaults of Config.
const (
	DefaultBuffer         = 16
	DefaultMaxInFlight    = 65536
	DefaultConnectTimeout = 600 * time.Second
	DefaultProbeInterval  = time.Second
)

// CoordinatorAddresses are those of a data-parallel coordinator, as peers must dial
// them.
type CoordinatorAddresses struct {
	Front       string `json:"front"`        // for clients. vLLM: frontend_stats_publish_address
	BackPublish string `json:"back_publish"` // to engines. vLLM: coordinator_input
	BackOutput  string `json:"back_output"`  // of engines. vLLM: coordinator_output
}

// Launcher meets engines and tells them the Client's addresses.
type Launcher interface {
	// Launch runs from Connect to Close, in a goroutine of the Client's, until
	// ctx ends. An error ends the Client.
	Launch(ctx context.Context, l Launch) error
}

// Launch is what a Launcher works with.
type Launch struct {
	Transport transport.Transport
	Ranks     []int
	Init      func(rank int) *codec.Init // what to tell the engine of a managed rank
	InUse     func(rank int) bool        // the rank's engine is ready; asks the transport whether it is still there
	Started   func(rank int)             // to be called when a handshake is done
	Failed    func(rank int, err error)  // to be called when it can never be: Connect returns err
}

const rankRule = "ranks are 0 to 65535: an identity has 2 bytes"

// withDefaults checks c and fills it in.
func (c Config) withDefaults() (Config, error) {
	for _, r := range []struct {
		bad         bool
		field, rule string
	}{
		{c.Transport == nil, "Transport", "is required"},
		{c.Engines < 0, "Engines", "must be 1 or more"},
		{c.FirstRank < 0 || c.FirstRank+max(c.Engines, 1) > codec.MaxRank+1, "FirstRank", rankRule},
		{c.Attach && c.Launch != nil, "Attach", "goes without Launch: engines shake hands once in their life"},
		{c.Attach && (c.Input == "" || c.Output == ""), "Attach", "needs Input and Output, which the engines know already"},
		{(c.Input == "") != (c.Output == "") && c.Launch == nil, "Output", "is given together with Input"},
		{(c.Coordinator.BackPublish == "") != (c.Coordinator.BackOutput == ""), "Coordinator", "needs both addresses for engines, or none"},
		{c.Coordinator.BackPublish != "" && c.Coordinator.Front == "", "Coordinator", "needs Front, where clients hear of it"},
		{c.Buffer < 0, "Buffer", "must not be negative"},
		{c.StreamInterval < 0, "StreamInterval", "must not be negative"},
		{c.MaxInFlight < 0, "MaxInFlight", "must not be negative"},
		{c.Launch != nil && c.ClientCount > 1, "ClientCount", "goes without Launch, which tells engines of one front end: an output thread dies of a client index it has no address for"},
		{c.ClientIndex < 0 || c.ClientIndex >= max(c.ClientCount, 1), "ClientIndex", "must be below ClientCount"},
	} {
		if r.bad {
			return c, &ConfigError{r.field, r.rule}
		}
	}
	c.Engines = max(c.Engines, 1)
	if c.Wire == nil {
		c.Wire = Wire
	}
	if c.Policy == nil {
		c.Policy = &policy.LateInteraction{Next: &policy.LeastLoaded{ClientIndex: c.ClientIndex, ClientCount: c.ClientCount}}
	}
	c.Buffer = cmp.Or(c.Buffer, DefaultBuffer)
	c.MaxInFlight = cmp.Or(c.MaxInFlight, DefaultMaxInFlight)
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, DefaultConnectTimeout)
	c.ProbeInterval = cmp.Or(c.ProbeInterval, DefaultProbeInterval)
	c.Bind = cmp.Or(c.Bind, "ipc")
	return c, nil
}

// ranks are the managed ones.
func (c Config) ranks() []int {
	ranks := make([]int, c.Engines)
	for i := range ranks {
		ranks[i] = c.FirstRank + i
	}
	return ranks
}
