// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// check refuses flags that make no sense, and lists the clients to be measured.
func (c *compareCmd) check() ([]peer, error) {
	if err := c.checkValues(); err != nil {
		return nil, err
	}
	if err := checkFile(c.JSON); err != nil {
		return nil, err
	}
	peers, err := c.peers()
	if err != nil {
		return nil, err
	}
	for _, p := range peers {
		if err := c.checkFiles(p); err != nil {
			return nil, err
		}
	}
	return peers, nil
}

func (c *compareCmd) checkValues() error {
	if c.Rounds < 1 || c.Rounds > 1000 {
		return &usageError{"--rounds", fmt.Errorf("must be 1 to 1000, is %d", c.Rounds)}
	}
	for _, name := range c.Workload {
		if _, ok := newWorkload(name); !ok {
			return &usageError{"--workload", fmt.Errorf("%q is not short or long", name)}
		}
	}
	for _, d := range c.StepTime {
		if d < 0 || d > time.Second || d%time.Microsecond != 0 {
			return &usageError{"--step-time", fmt.Errorf("must be whole microseconds, and 1s at most, is %v", d)}
		}
	}
	for _, n := range c.Engines {
		if n < 1 || n > 64 {
			return &usageError{"--engines", fmt.Errorf("must be 1 to 64, is %d", n)}
		}
	}
	for _, name := range c.Transport {
		if name != "ipc" && name != "tcp" {
			return &usageError{"--transport", fmt.Errorf("%q is not ipc or tcp", name)}
		}
	}
	return nil
}

// peers are the clients that were asked for, or all that there are the files for.
func (c *compareCmd) peers() ([]peer, error) {
	for _, name := range c.Client {
		if !slices.ContainsFunc(allPeers(), func(p peer) bool { return p.name == name }) {
			return nil, &usageError{"--client", fmt.Errorf("%q is not floor, streams, merged, raw, memory or vllm", name)}
		}
	}
	var list []peer
	for _, p := range allPeers() {
		wanted := len(c.Client) == 0 && (p.name != "vllm" || c.VLLM != "")
		if wanted || slices.Contains(c.Client, p.name) {
			list = append(list, p)
		}
	}
	return list, nil
}

// checkFiles finds what a client needs, and keeps it as an absolute path.
func (c *compareCmd) checkFiles(p peer) error {
	var need []*file
	if p.name != "memory" {
		need = append(need, &file{"--mock", &c.Mock, ""})
	}
	switch p.name {
	case "floor":
		need = append(need, &file{"--floor", &c.Floor, ""})
	case "vllm":
		need = append(need, &file{"--vllm", &c.VLLM, "bin/python"},
			&file{"--vllm-bench", &c.VLLMFile, ""})
	case "streams", "merged", "raw":
		if !withZMQ {
			_, _, err := newZMQ()
			return err
		}
	}
	for _, f := range need {
		if f.flag == "--vllm-bench" && *f.path == "" {
			*f.path = filepath.Join(filepath.Dir(filepath.Dir(c.Mock)), "python_bench", "bench.py")
		}
		if err := f.find(); err != nil {
			return &usageError{f.flag, err}
		}
	}
	return nil
}

// file is a path that a flag gives; inside is what is to be there in a directory.
type file struct {
	flag   string
	path   *string
	inside string
}

func (f *file) find() (err error) {
	if *f.path == "" {
		return errors.New("is needed; --client chooses what is measured")
	}
	if *f.path, err = filepath.Abs(*f.path); err != nil {
		return err
	}
	i, err := os.Stat(filepath.Join(*f.path, f.inside))
	if err == nil && i.IsDir() {
		err = fmt.Errorf("%s is a directory", *f.path)
	}
	return err
}
