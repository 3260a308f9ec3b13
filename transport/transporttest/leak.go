// SPDX-License-Identifier: Apache-2.0

package transporttest

import (
	"os"
	"runtime"

	"github.com/corepipe/corepipe/transport"
)

// leftovers counts goroutines and, where /proc shows them, descriptors, before
// and after rounds of connecting, some traffic and closing.
func leftovers(k kit) {
	use := func() {
		for _, r := range routes() {
			l := k.connect(r, nil)
			k.send(l.from, l.peer, "x")
			k.want(l.to, l.origin, "x")
			k.close(l.from)
			k.close(l.to)
		}
		if !k.h.NoReconnect { // such a transport may hold on to who waits for a listener
			c := k.open(transport.Socket{Pattern: transport.Dealer, Endpoint: k.freed(), Linger: -1})
			k.send(c, "", "to nobody")
			k.close(c)
		}
	}
	use() // what the transport and the runtime start once
	goroutines, descriptors := runtime.NumGoroutine(), countDescriptors()
	for range 10 {
		use()
	}
	k.eventually("goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	k.eventually("descriptors are closed", func() bool { return countDescriptors() <= descriptors })
}

// countDescriptors is 0 where there is no /proc.
func countDescriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}
