// SPDX-License-Identifier: Apache-2.0

//go:build !race

package pipeline_test

const raceEnabled = false
