// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport"
)

// Route is the stage that chooses an engine for each command. A request whose id
// is live goes where it went before; a pin (Request.DataParallelRank, an index
// into the managed ranks) comes next; p decides the rest, over the engines that
// are ready. An abort becomes one message for each engine that has some of its
// ids. A command that cannot be routed fails alone.
func Route(p policy.Policy, t *Table) Stage[Encoded, Routed] {
	return func(ctx context.Context, in <-chan Encoded, out chan<- Routed) error {
		r := router{chooser: newChooser(p, t), table: t, emit: func(v Routed) error { return Emit(ctx, out, v) }}
		t.chooser.Store(r.chooser)
		return serve(ctx, in, false, func(v Encoded) error {
			err := r.route(v)
			if err != nil {
				v.Fail(err)
			}
			return err
		})
	}
}

// router is the state of one route stage.
type router struct {
	chooser *chooser
	table   *Table
	emit    func(Routed) error
}

// route sends v on its way; an error means that the group has ended.
func (r *router) route(v Encoded) error {
	switch c := v.Command.(type) {
	case *Add:
		return r.add(v, c)
	case *Abort:
		return r.abort(c)
	case *Call:
		e := r.table.ranks[c.Rank]
		err := errForged
		if e != nil && c.table != nil {
			err = e.death()
		}
		if err != nil {
			v.release()
			c.Fail(err)
			return nil
		}
		return r.send(v, e, e.now())
	case *StartWave:
		return r.wave(v)
	default:
		return nil // not a command
	}
}

// add routes a request, once; a stage that passes it on again changes nothing.
func (r *router) add(v Encoded, a *Add) error {
	if a.stream == nil || a.routed {
		return nil // its memory may be the first one's
	}
	if a.again && a.stream.released.Load() {
		v.release()
		return nil
	}
	a.routed = true
	e, err := r.chooser.choose(a)
	if err == nil {
		err = r.fit(&v, a, e)
	}
	var epoch uint64
	if err == nil {
		epoch, err = e.take(a.stream)
	}
	if err != nil {
		v.release()
		a.Fail(&opError{"route", err})
		return nil
	}
	return r.send(v, e, epoch)
}

// fit encodes an add again if e is of another layout than the fleet.
func (r *router) fit(v *Encoded, a *Add, e *engine) error {
	l := e.layout.Load()
	if v.Layout == l {
		return nil
	}
	r.table.counts.reencoded.Add(1)
	again := encoder{table: r.table}
	m, err := again.add(a, l)
	if err != nil {
		return err
	}
	v.release()
	v.Layout, v.message = l, m
	return nil
}

// abort groups ids by engine. A stream without an engine was never sent.
func (r *router) abort(a *Abort) error {
	if e := a.probe; e != nil {
		return r.sendAbort(a, e, nil)
	}
	byEngine := map[*engine][]string{}
	var order []*engine
	for _, s := range a.streams {
		if e := s.engine.Load(); e != nil {
			if byEngine[e] == nil {
				order = append(order, e)
			}
			byEngine[e] = append(byEngine[e], s.id)
		}
	}
	for _, e := range order {
		if e.is(EngineDead) {
			continue
		}
		if err := r.sendAbort(a, e, byEngine[e]); err != nil {
			return err
		}
	}
	return nil
}

func (r *router) sendAbort(a *Abort, e *engine, ids []string) error {
	m, err := newMessage(&r.table.buffers, codec.Abort, func(b *buffer) error {
		b.payload = codec.AppendAbort(b.payload, ids...)
		return nil
	})
	if err != nil {
		return err
	}
	return r.send(Encoded{Command: a, message: m}, e, e.now())
}

// wave sends v to every engine that is ready.
func (r *router) wave(v Encoded) error {
	for _, e := range r.table.engines {
		if !e.is(EngineReady) {
			continue
		}
		w := v
		w.buffer = nil // several packets share it, so nobody gives it back
		if err := r.send(w, e, e.now()); err != nil {
			return err
		}
	}
	return nil
}

func (r *router) send(v Encoded, e *engine, epoch uint64) error {
	return r.emit(Routed{
		Command: v.Command, Rank: e.rank, engine: e, epoch: epoch, message: v.message,
		Packet: transport.Packet{Peer: e.peer, Frames: v.frames, Shared: v.shared},
	})
}
