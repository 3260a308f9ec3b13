// SPDX-License-Identifier: Apache-2.0

package codec

// What releases do differently besides the place of fields.

// FirstRequest reports whether a client tells the coordinator of a request that
// finds the engines at rest. Up to 0.32.0 idle ranks are not woken without it;
// since 0.33.0 engines start waves themselves and a coordinator logs an error.
// vLLM: FIRST_REQ in DPAsyncMPClient.
func (l *Layout) FirstRequest() bool { return l.before(0, 33, 0) }

// EmptyReady reports whether the first message of an engine on the input socket
// is empty: before 0.20.0 what it has to say went with the handshake. vLLM:
// EngineCoreReadyResponse, which came with 0.20.0.
func (l *Layout) EmptyReady() bool { return l.before(0, 20, 0) }

// ReportsKVUsage reports whether a row of Counts has its third number. vLLM:
// DPCoordinatorProc publishes it since 0.29.0.
func (l *Layout) ReportsKVUsage() bool { return !l.before(0, 29, 0) }
