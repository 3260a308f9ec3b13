// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/corepipe/corepipe/transport"
)

// checkPath says whether an ipc path may be bound, which deletes what is there.
// It dials, because a file alone does not tell a listener from one that died;
// a listener sees a connection that says nothing. Two that bind one path at the
// same instant can both pass.
func checkPath(address, path string) error {
	if !strings.HasPrefix(path, "@") { // an abstract name has no file
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return &transport.AddressError{Address: address, Rule: err.Error(), Err: err}
		case info.Mode().Type() != fs.ModeSocket:
			return &transport.AddressError{Address: address, Rule: "the file there is no socket; it was left alone"}
		}
	}
	peer, err := net.Dial("unix", path)
	switch {
	case err == nil:
		_ = peer.Close()
	case errors.Is(err, syscall.EAGAIN): // a listener with a full backlog
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return &transport.AddressError{Address: address, Rule: err.Error(), Err: err}
	}
	return &transport.AddressError{Address: address, Rule: "address in use", Err: transport.ErrInUse}
}

// socketFile is the file of a bound ipc socket, nil for other addresses.
func socketFile(bound string) (path string, info fs.FileInfo) {
	path, ok := strings.CutPrefix(bound, "ipc://")
	if !ok || strings.HasPrefix(path, "@") {
		return "", nil
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", nil
	}
	return path, info
}

// removeFile deletes our socket file, which libzmq leaves behind, but not one
// that somebody has put in its place.
func removeFile(path string, ours fs.FileInfo) {
	if ours == nil {
		return
	}
	if now, err := os.Lstat(path); err == nil && os.SameFile(now, ours) {
		_ = os.Remove(path)
	}
}
