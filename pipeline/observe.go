// SPDX-License-Identifier: Apache-2.0

package pipeline

// Observer is the set of interfaces that TableConfig.Observer may implement, each
// optional. They are called from the stages, which may run in the goroutine of whoever
// submits or aborts: they return quickly, wait for nobody, and come from several
// goroutines.
type Observer interface {
	EngineObserver
	DecodeObserver
}

// EngineObserver hears of every change of an engine's state.
type EngineObserver interface {
	EngineState(rank int, from, to EngineState, err error)
}

// DecodeObserver hears of messages and outputs that could not be decoded. Rank
// is -1 for a message of an output address that engines share.
type DecodeObserver interface {
	DecodeError(rank int, err error)
}

func (t *Table) observeEngine(rank int, from, to EngineState, err error) {
	if o, ok := t.config.Observer.(EngineObserver); ok && from != to {
		o.EngineState(rank, from, to, err)
	}
}

func (t *Table) observeDecode(rank int, err error) {
	if o, ok := t.config.Observer.(DecodeObserver); ok {
		o.DecodeError(rank, err)
	}
}
