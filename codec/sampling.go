// SPDX-License-Identifier: Apache-2.0

package codec

// SamplingParams says how to sample. Its zero value is vLLM's default for every
// key, and only what differs is sent. Pointers stand where vLLM's default is
// neither Go's zero nor nil: Temperature: new(0.7). vLLM: SamplingParams.
type SamplingParams struct {
	// N is the number of answers; 0 means 1. A front end sends one request of
	// N 1 for each.
	N                 int
	PresencePenalty   float64  // in [-2, 2].
	FrequencyPenalty  float64  // in [-2, 2].
	RepetitionPenalty *float64 // over 0; nil: 1.
	Temperature       *float64 // in [0, 2]; nil: 1. 0 is greedy.
	Watermarking      *bool
	TopP              *float64 // in (0, 1]; nil: 1.
	TopK              int      // 0 and -1: off.
	MinP              float64  // in [0, 1].
	Seed              *int64
	// Stop strings are matched by the front end; they need Detokenize.
	Stop         []string
	StopTokenIDs []uint32
	IgnoreEOS    bool
	// MaxTokens 0 is unset, which an engine reads as 16. NoLimit is nil.
	MaxTokens int
	MinTokens int
	// Logprobs is the number of top tokens, -1 for the whole vocabulary.
	Logprobs       *int
	PromptLogprobs *int
	// PromptLogprobTokenIDs has shape [rows, ids] and an integer type. It is a
	// numpy array on the wire.
	PromptLogprobTokenIDs      *Tensor
	PromptLogprobStart         *int
	LogprobTokenIDs            []uint32 // at most 128.
	FlatLogprobs               bool
	Detokenize                 *bool // nil: true.
	SkipSpecialTokens          *bool // nil: true.
	SpacesBetweenSpecialTokens *bool // nil: true.
	IncludeStopStrInOutput     bool
	OutputKind                 OutputKind
	StreamInterval             *int // at least 1.
	SkipClone                  bool
	OutputTextBufferLength     int
	// EOSTokenID ends an answer; an engine does not stop at the end without it.
	// vLLM: _eos_token_id.
	EOSTokenID *uint32
	// AllStopTokenIDs is EOS and StopTokenIDs together, masked until MinTokens.
	// vLLM: _all_stop_token_ids.
	AllStopTokenIDs     []uint32
	WatermarkingSkipped bool // vLLM: _watermarking_skipped.
	StructuredOutputs   *StructuredOutputs
	LogitBias           map[int]float64
	AllowedTokenIDs     []uint32
	// ExtraArgs holds kv_transfer_params and ec_transfer_params among others.
	// Numbers that came as JSON go through FromJSON.
	ExtraArgs map[string]any
	BadWords  []string
	// BadWordsTokenIDs is what an engine reads of BadWords. vLLM:
	// _bad_words_token_ids.
	BadWordsTokenIDs         [][]uint32
	SkipReadingPrefixCache   *bool
	ThinkingTokenBudget      *int
	RepetitionDetection      *RepetitionDetection
	RoutedExpertsPromptStart int
	TraceDecodeTokenIDs      []uint32
}

// NoLimit as SamplingParams.MaxTokens is vLLM's None. An engine answers it
// with an error output, so Validate refuses it; front ends replace it by what
// is left of the model's length.
const NoLimit = -1

// OutputKind says which outputs a front end wants. vLLM: RequestOutputKind.
type OutputKind int

// The output kinds. A value that is none of these kills an engine's input.
const (
	Cumulative OutputKind = 0
	Delta      OutputKind = 1
	FinalOnly  OutputKind = 2
)

// StructuredOutputs holds exactly one constraint: JSON, Regex, Choice, Grammar,
// JSONObject or StructuralTag. vLLM: StructuredOutputsParams.
type StructuredOutputs struct {
	JSON                        any // string or map[string]any, whose whole floats are sent as integers.
	Regex                       string
	Choice                      []string
	Grammar                     string
	JSONObject                  *bool
	DisableAnyWhitespace        bool
	DisableAdditionalProperties bool
	WhitespacePattern           string
	StructuralTag               string
	Backend                     string // vLLM: _backend.
	BackendWasAuto              bool   // vLLM: _backend_was_auto.
}

// RepetitionDetection ends an answer that repeats itself. vLLM:
// RepetitionDetectionParams.
type RepetitionDetection struct {
	MaxPatternSize int
	MinPatternSize int
	MinCount       int
}
