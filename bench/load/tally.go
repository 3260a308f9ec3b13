// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// ErrorCount is how often an error was met.
type ErrorCount struct {
	// Error is the text with "*" for the request's id, or the kind of error
	// where texts differ from request to request.
	Error string `json:"error"`
	Count int    `json:"count"`
	First string `json:"first"` // the text of the first one in full
}

// maxErrors bounds the texts that are told apart; one more takes the rest.
const maxErrors = 16

const otherErrors = "other errors"

// tally counts errors by text.
type tally []ErrorCount

func (t *tally) add(id string, err error) {
	text := strings.ReplaceAll(err.Error(), id, "*")
	if wrong := (*MismatchError)(nil); errors.As(err, &wrong) {
		text = wrong.kind()
	}
	t.count(ErrorCount{Error: text, Count: 1, First: err.Error()})
}

func (t *tally) count(e ErrorCount) {
	for i := range *t {
		if (*t)[i].Error == e.Error {
			(*t)[i].Count += e.Count
			return
		}
	}
	if len(*t) >= maxErrors && e.Error != otherErrors {
		e.Error = otherErrors
		t.count(e)
		return
	}
	*t = append(*t, e)
}

func (t *tally) merge(o *tally) {
	for _, e := range *o {
		t.count(e)
	}
}

// sorted has the most frequent first, and is never nil.
func (t tally) sorted() []ErrorCount {
	s := append([]ErrorCount{}, t...)
	slices.SortStableFunc(s, func(a, b ErrorCount) int { return cmp.Compare(b.Count, a.Count) })
	return s
}
