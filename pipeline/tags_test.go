// SPDX-License-Identifier: Apache-2.0

//go:build !zmq || !cgo

package pipeline_test

const tags = ""
