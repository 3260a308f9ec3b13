// SPDX-License-Identifier: Apache-2.0

package codec

import "errors"

var errTodo = errors.New("codec: todo")

type statsField struct{ typed *SchedulerStats }
type rare struct{ typed *Extra }

// Load gives routing's part of the statistics; false when there are none in
// this message. It allocates nothing.
func (o *Outputs) Load() (Load, bool) { return Load{}, false }

// Stats decodes the scheduler's statistics; nil when there are none.
func (o *Outputs) Stats() (*SchedulerStats, error) { return o.stats.typed, nil }

// SetStats sets the statistics to be encoded.
func (o *Outputs) SetStats(s *SchedulerStats) { o.stats.typed = s }

// Plain reports whether there is nothing but tokens and a finish reason.
func (o *Output) Plain() bool { return o.Err == nil && o.extra == nil }

// Extra decodes the rare fields.
func (o *Output) Extra() (Extra, error) { return Extra{}, nil }

// SetExtra sets the rare fields to be encoded.
func (o *Output) SetExtra(x *Extra) { o.extra = &rare{typed: x} }

// DefaultRelease is the vLLM release assumed when nobody says another.
const DefaultRelease = "0.32.0"

// Layout says where each field stands in the messages of a range of vLLM
// releases. Immutable.
type Layout struct{ since string }

// LayoutOf gives the layout of a vLLM release: "0.32.0", "v0.32.1rc1+cpu". A
// release newer than all known gets the newest layout.
func LayoutOf(release string) (*Layout, error) { return &Layout{since: "0.32.0"}, nil }

// Since is the first release of this layout.
func (l *Layout) Since() string { return l.since }

// AppendRequest appends the payload frame to dst and the tensor frames to aux.
func (l *Layout) AppendRequest(dst []byte, aux [][]byte, r *Request) ([]byte, [][]byte, error) {
	return dst, aux, errTodo
}

// DecodeRequest reads the payload frame and its tensor frames.
func (l *Layout) DecodeRequest(frames [][]byte) (*Request, error) { return nil, errTodo }

// AppendOutputs appends the payload frame to dst and the tensor frames to aux.
func (l *Layout) AppendOutputs(dst []byte, aux [][]byte, o *Outputs) ([]byte, [][]byte, error) {
	return dst, aux, errTodo
}

// DecodeOutputs reads the payload frame and its tensor frames.
func (l *Layout) DecodeOutputs(frames [][]byte) (*Outputs, error) { return nil, errTodo }

// Validate refuses what an engine would not survive, with a *FieldError.
func (r *Request) Validate() error { return nil }

// String gives the number.
func (c CallID) String() string { return "" }

// The CallIDs of notifications.
var (
	// ElasticCall marks news of elastic expert parallelism.
	ElasticCall = CallID{N: 1, Negative: true}
	// FaultCall marks a fault tolerance status.
	FaultCall = CallID{N: 2, Negative: true}
)

// AppendUtility appends the payload of a UTILITY message.
func AppendUtility(dst []byte, c *UtilityCall) ([]byte, error) { return dst, errTodo }

// DecodeUtility reads the payload of a UTILITY message.
func DecodeUtility(payload []byte) (*UtilityCall, error) { return nil, errTodo }

// Failed reports whether the call failed.
func (u *UtilityOutput) Failed() bool { return u.failed || u.Failure != "" }

// Result decodes the value a method returned.
func (u *UtilityOutput) Result() (any, error) { return nil, nil }

// SetResult sets the value to be encoded.
func (u *UtilityOutput) SetResult(v any) { u.value = v }

// Tensor reads v, a [dtype, shape, data] inside Result, with its frame.
func (u *UtilityOutput) Tensor(v any) (*Tensor, error) { return nil, errTodo }

// AppendAbort appends the payload of an ABORT message.
func AppendAbort(dst []byte, ids ...string) []byte { return dst }

// DecodeAbort reads the payload of an ABORT message.
func DecodeAbort(payload []byte) ([]string, error) { return nil, errTodo }

// AppendStartWave appends the payload of a START_DP_WAVE message.
func AppendStartWave(dst []byte, wave int, exclude Exclude) []byte { return dst }

// DecodeStartWave reads the payload of a START_DP_WAVE message.
func DecodeStartWave(payload []byte) (wave int, exclude Exclude, err error) {
	return 0, Exclude{}, errTodo
}

// AppendHandshake appends a handshake message.
func AppendHandshake(dst []byte, h *Handshake) ([]byte, error) { return dst, errTodo }

// DecodeHandshake reads a handshake message.
func DecodeHandshake(payload []byte) (*Handshake, error) { return nil, errTodo }

// AppendInit appends the answer to HELLO.
func AppendInit(dst []byte, i *Init) ([]byte, error) { return dst, errTodo }

// DecodeInit reads the answer to HELLO.
func DecodeInit(payload []byte) (*Init, error) { return nil, errTodo }

// AppendReady appends an engine's ready message.
func AppendReady(dst []byte, r *Ready) ([]byte, error) { return dst, errTodo }

// DecodeReady reads an engine's ready message; nil for an empty payload.
func DecodeReady(payload []byte) (*Ready, error) { return nil, errTodo }

// AppendCounts appends a coordinator's publication.
func AppendCounts(dst []byte, c *Counts) []byte { return dst }

// DecodeCounts reads a coordinator's publication.
func DecodeCounts(payload []byte) (*Counts, error) { return nil, errTodo }

// AppendCoordinatorCall appends a client's message to a coordinator.
func AppendCoordinatorCall(dst []byte, c CoordinatorCall) []byte { return dst }

// DecodeCoordinatorCall reads a client's message to a coordinator.
func DecodeCoordinatorCall(payload []byte) (CoordinatorCall, error) {
	return CoordinatorCall{}, errTodo
}

// AppendValue appends any value that msgpack can hold.
func AppendValue(dst []byte, v any) ([]byte, error) { return dst, errTodo }

// DecodeValue reads one value.
func DecodeValue(b []byte) (any, error) { return nil, errTodo }
