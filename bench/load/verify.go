// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
)

// formula gives the tokens that a simulated engine puts out for one request.
type formula struct {
	seed, vocab uint32
	next        int // index of the next token
}

func newFormula(r *codec.Request, vocab int) formula {
	return formula{seed: engine.Seed(r.ID, r.Prompt), vocab: uint32(vocab)}
}

// check takes the next tokens.
func (f *formula) check(tokens []uint32) error {
	for _, got := range tokens {
		if want := engine.Token(f.seed, f.next, f.vocab); got != want {
			return &MismatchError{Index: f.next, Got: got, Want: want}
		}
		f.next++
	}
	return nil
}

// MismatchError is an output token that is not what Config.Verify expects.
type MismatchError struct {
	Index     int // of the token in its request's output, from 0
	Got, Want uint32
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("load: verify: token %d is %d, the formula gives %d", e.Index, e.Got, e.Want)
}

// kind is the text that all of them are counted under.
func (e *MismatchError) kind() string { return "load: verify: tokens do not follow the formula" }
