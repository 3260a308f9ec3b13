// SPDX-License-Identifier: Apache-2.0

//go:build !race

package replay_test

const raceDetector = false
