// SPDX-License-Identifier: Apache-2.0

package codec

// Outputs is what one engine step tells one client. vLLM: EngineCoreOutputs.
// Decoded outputs alias their frames, so whoever decodes gives the frames away.
type Outputs struct {
	// Engine is the data-parallel rank. vLLM: engine_index.
	Engine int
	// Rows has at most one entry a request. vLLM: outputs.
	Rows []Output
	// Timestamp is in seconds on the engine's monotonic clock.
	Timestamp float64
	// Utility answers a UtilityCall, or is a notification. vLLM: utility_output.
	Utility *UtilityOutput
	// Finished are ids to forget, in any order. vLLM: finished_requests.
	Finished []string
	// WaveComplete is the wave that ended. vLLM: wave_complete.
	WaveComplete *int
	// StartWave is the wave that other engines must start. vLLM: start_wave.
	StartWave *int
	// WeightVersion is that of the step. vLLM: weight_version.
	WeightVersion string

	stats statsField
}

// statsField keeps the statistics as they came until somebody asks.
type statsField struct {
	raw   []byte
	typed *SchedulerStats
}
