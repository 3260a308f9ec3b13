// SPDX-License-Identifier: Apache-2.0

//go:build race

package policy_test

const raceEnabled = true
