// SPDX-License-Identifier: Apache-2.0

// Package codec holds the messages of vLLM's EngineCore protocol, their msgpack
// form, and the layout of every vLLM release that is spoken. It starts no
// goroutines and does no I/O.
package codec
