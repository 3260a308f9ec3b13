// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// message is what a client asks for; exactly one of its fields is set. abort may
// be empty, of no ids, which means nothing.
type message struct {
	add   *codec.Request
	abort []string
	call  *codec.UtilityCall
	wave  *wave
}

type wave struct {
	number  int
	exclude codec.Exclude
}

// receive is one source of what all of them emit.
func receive(sources []pipeline.Source[transport.Packet]) pipeline.Source[transport.Packet] {
	if len(sources) == 1 {
		return sources[0]
	}
	return func(ctx context.Context, out chan<- transport.Packet) error {
		all, ctx := errgroup.WithContext(ctx) // each ends with its Conn, all of which end together
		for _, source := range sources {
			all.Go(func() error { return source(ctx, out) })
		}
		return all.Wait()
	}
}

// decode is the stage that reads messages. What cannot be read is skipped.
func decode(layout *codec.Layout, skip func(error)) pipeline.Stage[transport.Packet, message] {
	return pipeline.Each(func(_ context.Context, p transport.Packet, emit func(message) error) error {
		kind, m, err := parse(layout, p.Frames)
		switch {
		case err != nil:
			skip(&SkippedError{Kind: kind, Err: err})
			return nil
		case kind == codec.Wakeup:
			return nil
		}
		return emit(m)
	})
}

var errKind = errors.New("first frame must be one byte, a kind of message")

// parse reads one message: a kind, a payload and tensors.
func parse(layout *codec.Layout, frames [][]byte) (kind codec.Kind, m message, err error) {
	if len(frames) == 0 || len(frames[0]) != 1 {
		return 0, m, errKind
	}
	kind = codec.Kind(frames[0][0])
	if kind == codec.Wakeup {
		return kind, m, nil
	}
	if len(frames) < 2 {
		return kind, m, errors.New("no payload frame")
	}
	switch kind {
	case codec.Add:
		m.add, err = layout.DecodeRequest(frames[1:])
	case codec.Abort:
		m.abort, err = codec.DecodeAbort(frames[1])
	case codec.Utility:
		m.call, err = codec.DecodeUtility(frames[1])
	case codec.StartWave:
		m.wave = new(wave)
		m.wave.number, m.wave.exclude, err = codec.DecodeStartWave(frames[1])
	default: // ExecutorFailed among them: it is the engine's to itself, and deadly
		err = fmt.Errorf("kind %d is not for clients", frames[0][0])
	}
	return kind, m, err
}
