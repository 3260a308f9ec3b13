// SPDX-License-Identifier: Apache-2.0

//go:build race

package codec_test

const raceEnabled = true
