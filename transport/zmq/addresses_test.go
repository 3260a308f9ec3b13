// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq_test

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/transport"
)

func TestAddressErrorsSayWhatToChange(t *testing.T) {
	tr := newTransport(t)
	for _, test := range []struct{ address, says string }{
		{"tcp://127.0.0.1:99999", "0 to 65535"},
		{"tcp://", "host:port"},
		{"udp://x", "udp"},
		{"ipc://", "path"},
		{"ipc:///tmp/" + strings.Repeat("x", 115), "120 bytes, the limit of a Unix socket is 107"},
		{"tcp://localhost:0", "interface"},
	} {
		_, err := tr.Open(t.Context(), transport.Socket{Pattern: transport.Pull, Endpoint: test.address, Bind: true})
		var address *transport.AddressError
		if !errors.As(err, &address) || address.Address != test.address || !strings.Contains(err.Error(), test.says) {
			t.Errorf("bind %s: error %v does not say %q", test.address, err, test.says)
		}
	}
	_, err := tr.Open(t.Context(), transport.Socket{Pattern: transport.Pull, Endpoint: "udp://x", Bind: true})
	if !errors.Is(err, transport.ErrUnsupported) {
		t.Errorf("bind udp: got %v, want ErrUnsupported", err)
	}
}

func TestBoundToEveryInterfaceTheEndpointCanBeDialled(t *testing.T) {
	tr := newTransport(t)
	hosts := map[string]string{"*": "tcp://127.0.0.1:", "0.0.0.0": "tcp://127.0.0.1:", "[::]": "tcp://[::1]:"}
	for host, want := range hosts {
		if host == "[::]" {
			needIPv6(t)
		}
		pull := open(t, tr, transport.Socket{Pattern: transport.Pull, Endpoint: "tcp://" + host + ":*", Bind: true})
		if !strings.HasPrefix(pull.Endpoint(), want) {
			t.Errorf("bound to %s: endpoint %s, want %s and a port", host, pull.Endpoint(), want)
		}
		push := open(t, tr, transport.Socket{Pattern: transport.Push, Endpoint: pull.Endpoint()})
		send(t, push, "", "hello")
		recv(t, pull)
	}
}

func TestTheFileOfADeadListenerIsReplacedAndOursRemoved(t *testing.T) {
	tr := newTransport(t)
	path := socketDir(t) + "/stale"
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no stale file to begin with: %v", err)
	}
	c := open(t, tr, transport.Socket{Pattern: transport.Pull, Endpoint: "ipc://" + path, Bind: true})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after close the socket file is there: %v", err)
	}
}

func TestARegularFileIsLeftAlone(t *testing.T) {
	tr := newTransport(t)
	path := socketDir(t) + "/notes"
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := tr.Open(t.Context(), transport.Socket{Pattern: transport.Pull, Endpoint: "ipc://" + path, Bind: true})
	if _, ok := errors.AsType[*transport.AddressError](err); !ok {
		t.Errorf("bind over a file: got %v, want an AddressError", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
		t.Errorf("the file now has %q, %v", b, err)
	}
}

func TestASecondBinderIsRefusedAndTheFirstGoesOn(t *testing.T) {
	one, two := newTransport(t), newTransport(t) // as two processes would have
	at := address(t, "ipc")
	first := open(t, one, transport.Socket{Pattern: transport.Pull, Endpoint: at, Bind: true})
	_, err := two.Open(t.Context(), transport.Socket{Pattern: transport.Pull, Endpoint: at, Bind: true})
	if !errors.Is(err, transport.ErrInUse) {
		t.Fatalf("second bind: got %v, want ErrInUse", err)
	}
	push := open(t, two, transport.Socket{Pattern: transport.Push, Endpoint: at})
	send(t, push, "", "to the first")
	recv(t, first)
}
