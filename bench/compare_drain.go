// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"time"
)

// drain is a pipe that is read into a writer.
type drain struct {
	in   *os.File // the program's end
	out  *os.File
	over chan struct{}
}

func newDrain(to io.Writer) (*drain, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	d := &drain{in, out, make(chan struct{})}
	go func() { // ends with the pipe, which end ends
		defer close(d.over)
		_, _ = io.Copy(to, out) // the program hears of it
		_ = out.Close()
	}()
	return d, nil
}

// end waits for what is in the pipe, but not for those who still hold it.
func (d *drain) end() {
	_ = d.in.Close()
	_ = d.out.SetReadDeadline(time.Now().Add(time.Second)) // it may be closed
	<-d.over
}

// maxOutput is many times the length of a result.
const maxOutput = 1 << 20

// capped is a buffer that a program gone wild does not fill.
type capped struct {
	b    bytes.Buffer
	over bool
}

func (c *capped) Write(b []byte) (int, error) {
	if c.over = c.over || c.b.Len()+len(b) > maxOutput; c.over {
		return 0, io.ErrShortWrite
	}
	return c.b.Write(b)
}
