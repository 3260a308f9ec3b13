// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Bubbles see to their own goroutines; this is for the rest.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
