// SPDX-License-Identifier: Apache-2.0

package codec

// The two states of Handshake.
const (
	StatusHello = "HELLO"
	StatusReady = "READY"
)

// Handshake is what an engine says to its launcher: first StatusHello, at last
// StatusReady. Unknown keys are ignored.
type Handshake struct {
	Status string
	// Local says that the launcher started this engine next to a front end.
	Local bool
	// Headless says that the engine has no front end beside it.
	Headless bool
	// ParallelConfigHash comes with StatusReady and data parallelism only.
	ParallelConfigHash string
}

// Init is what a launcher answers to StatusHello. vLLM: EngineHandshakeMetadata.
type Init struct {
	// Inputs and Outputs have one address a client, in order of client index.
	Inputs, Outputs []string
	// CoordinatorInput is published to engines; "" is nil, as for the others.
	CoordinatorInput string
	// CoordinatorOutput, when set, makes an engine believe in a coordinator.
	CoordinatorOutput string
	// StatsAddress comes back in Ready. vLLM: frontend_stats_publish_address.
	StatsAddress string
	// ParallelConfig is set verbatim on the engine's configuration; empty
	// unless a mixture-of-experts model runs data parallel.
	ParallelConfig map[string]any
}
