// SPDX-License-Identifier: Apache-2.0

package load

// Result is one run. As JSON it is one object of exactly the keys below, all of
// them always there.
//
// Done, Failed and Aborted add up to Requests unless the run was Interrupted.
// Failed are requests that were refused, that ended without a finish or with
// another number of tokens than asked for, and those that Verify found wrong.
type Result struct {
	Transport string `json:"transport"` // set by the caller: "inproc", "ipc", "tcp"
	Policy    string `json:"policy"`    // set by the caller: "least-loaded", …

	Requests     int  `json:"requests"`      // asked for
	Concurrency  int  `json:"concurrency"`   // live at a time
	PromptTokens int  `json:"prompt_tokens"` // of each request
	MaxTokens    int  `json:"max_tokens"`    // output tokens of each request
	AuxBytes     int  `json:"aux_bytes"`     // of the tensor that goes with each request; 0 when none does
	Interrupted  bool `json:"interrupted"`   // the context ended first

	Done    int `json:"done"`
	Failed  int `json:"failed"`
	Aborted int `json:"aborted"`

	Wall              float64 `json:"wall_s"`              // s, first Submit to last end
	RequestsPerSecond float64 `json:"requests_per_s"`      // done ones
	OutputTokens      int64   `json:"output_tokens"`       // all that arrived
	TokensPerSecond   float64 `json:"output_tokens_per_s"` // all that arrived
	// Messages are those received from engines while measuring, one a step and
	// client; 0 when the Submitter does not tell.
	Messages         int64   `json:"messages"`
	TokensPerMessage float64 `json:"tokens_per_message"`
	// CPU is user and system time of this process, in µs, per request that
	// ended while measuring.
	CPU float64 `json:"cpu_us_per_request"`
	// CPUScope says what CPU covers: "process" when the engines run in this
	// process too, "client" when they do not. Run sets "process".
	CPUScope string `json:"cpu_scope"`

	// What follows is of this process, as CPU is. Allocated is bytes per request that ended
	// while measuring; Memory is what the Go runtime has taken from the system by the end,
	// in bytes, which libraries in C are not in; OpenFiles are the file descriptors when
	// the last request had been submitted, 0 where that is not known.
	Allocated float64 `json:"allocated_bytes_per_request"`
	Memory    uint64  `json:"memory_bytes"`
	OpenFiles int     `json:"open_files"`

	// TTFT is from before Submit to the first output with tokens. What waited
	// for the reader is in it, as a user would have it.
	TTFT Quantiles `json:"ttft_ms"`
	// ITL is the inter-token time; all 0 with Config.NoITL. An output of k tokens that is read a time g
	// after the one before counts as k waits of g/k; tokens that come with the
	// first one count as none. Aborted and failed requests are in it, and in TTFT.
	ITL Quantiles `json:"itl_ms"`
	// E2E is from before Submit to the last token, of done requests.
	E2E Quantiles `json:"e2e_ms"`

	// Received is from an engine's stamp on a step to its receipt here, in µs; the caller
	// sets it, where both have one clock. Added is from there to the reader's hands, in µs;
	// 0 unless Config.Received is set.
	Received Quantiles `json:"received_us"`
	Added    Quantiles `json:"added_us"`

	Engines []Engine     `json:"engines"` // by rank
	Errors  []ErrorCount `json:"errors"`  // the most frequent first
}

// Quantiles are in milliseconds unless their field says µs or ns, to three digits; 0 when there
// was nothing.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}

// Engine is one engine's part.
type Engine struct {
	Rank     int    `json:"rank"`
	Requests int    `json:"requests"` // measured ones that were routed to it
	Version  string `json:"version"`  // vLLM release
	// Running and Waiting are what its scheduler reported last; an engine that
	// has nothing to do reports nothing.
	Running int `json:"running"`
	Waiting int `json:"waiting"`
}

// result computes the rates.
func (m measurement) result(c Config) *Result {
	r := &Result{
		Requests: c.Requests, Concurrency: c.Concurrency, PromptTokens: c.PromptTokens, MaxTokens: c.OutputTokens, AuxBytes: c.AuxBytes,
		Done: m.done, Failed: m.failed, Aborted: m.aborted,
		Wall: m.wall.Seconds(), OutputTokens: m.tokens, Messages: m.messages, CPUScope: "process",
		Memory: m.memory, OpenFiles: m.files,
		TTFT: millis(m.ttft), ITL: millis(m.itl), E2E: millis(m.e2e), Added: Micros(m.added),
		Errors: m.errors.sorted(),
	}
	if m.wall > 0 {
		r.RequestsPerSecond = float64(m.done) / r.Wall
		r.TokensPerSecond = float64(m.tokens) / r.Wall
	}
	if ended := m.done + m.failed + m.aborted; ended > 0 {
		r.CPU = float64(m.cpu.Nanoseconds()) / 1e3 / float64(ended)
		r.Allocated = float64(m.allocated) / float64(ended)
	}
	if m.messages > 0 {
		r.TokensPerMessage = float64(m.tokens) / float64(m.messages)
	}
	return r
}
