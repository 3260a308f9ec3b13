// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/transport"
)

func ExampleParseEndpoint() {
	e, err := transport.ParseEndpoint("tcp://[::1]:5555", false)
	fmt.Println(e.Host, e.Port, e.IPv6, err)
	_, err = transport.ParseEndpoint("tcp://10.0.0.1:99999", false)
	fmt.Println(err)
	// Output:
	// ::1 5555 true <nil>
	// transport: endpoint "tcp://10.0.0.1:99999": port "99999" is not a number from 0 to 65535
}

func TestEndpointsThatAreTaken(t *testing.T) {
	for _, test := range []struct {
		address string
		bind    bool
		want    transport.Endpoint
	}{
		{"tcp://127.0.0.1:1", false, transport.Endpoint{Scheme: "tcp", Host: "127.0.0.1", Port: 1}},
		{"tcp://*:0", true, transport.Endpoint{Scheme: "tcp", Host: "*"}},
		{"tcp://eth0:*", true, transport.Endpoint{Scheme: "tcp", Host: "eth0"}},
		{"tcp://[fe80::1%eth0]:65535", false, transport.Endpoint{Scheme: "tcp", Host: "fe80::1%eth0", Port: 65535, IPv6: true}},
		{"ipc:///run/a", true, transport.Endpoint{Scheme: "ipc", Path: "/run/a"}},
		{"ipc://@abstract", false, transport.Endpoint{Scheme: "ipc", Path: "@abstract"}},
		{"ipc://" + strings.Repeat("x", 107), true, transport.Endpoint{Scheme: "ipc", Path: strings.Repeat("x", 107)}},
		{"inproc://a", true, transport.Endpoint{Scheme: "inproc", Path: "a"}},
	} {
		got, err := transport.ParseEndpoint(test.address, test.bind)
		if err != nil || got != test.want {
			t.Errorf("%s: got %+v, %v; want %+v", test.address, got, err, test.want)
		}
	}
}

func TestEndpointsThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		address string
		bind    bool
		says    string
	}{
		{"", true, "scheme"},
		{"127.0.0.1:5555", true, "scheme"},
		{"udp://x", true, "udp"},
		{"tcp://", true, "host:port"},
		{"tcp://h", true, "host:port"},
		{"tcp://:1", false, "empty"},
		{"tcp://:1", true, "empty"},
		{"tcp://h:", true, "missing"},
		{"tcp://h:99999", true, "65535"},
		{"tcp://h:-1", true, "65535"},
		{"tcp://h:x", true, "65535"},
		{"tcp://h:0", false, "1 to 65535"},
		{"tcp://h:*", false, "1 to 65535"},
		{"tcp://*:1", false, "bound"},
		{"tcp://::1:5555", true, "brackets"},
		{"tcp://[::1:5555", true, "brackets"},
		{"tcp://[1.2.3.4]:5555", true, "brackets"},
		{"ipc://", true, "path"},
		{"ipc:///a\x00b", true, "NUL"},
		{"ipc:///" + strings.Repeat("x", 119), true, "path is 120 bytes, the limit of a Unix socket is 107: /xxx"},
		{"inproc://", true, "name"},
	} {
		_, err := transport.ParseEndpoint(test.address, test.bind)
		var address *transport.AddressError
		if !errors.As(err, &address) || address.Address != test.address || !strings.Contains(address.Rule, test.says) {
			t.Errorf("%q: error %v does not say %q", test.address, err, test.says)
		}
	}
	if _, err := transport.ParseEndpoint("udp://x", true); !errors.Is(err, transport.ErrUnsupported) {
		t.Errorf("udp: got %v, want ErrUnsupported", err)
	}
}

func TestPatternsHaveNames(t *testing.T) {
	for p, want := range map[transport.Pattern]string{transport.Router: "router", transport.XSub: "xsub", 0: "pattern 0"} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
