// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"slices"
)

// CallArgs gives the arguments of a utility call in the form that the release
// takes, and never writes to args. A LoRARequest, or a pointer to one, becomes
// the array of the release, of its first four elements where both bools are
// false; a nil pointer becomes nil. The arguments of "profile" lose the nils at
// their end, because engines take two of them up to 0.31.0, four in 0.32.0 and
// five since. What the release has no place for is a *FieldError that wraps
// ErrUnsupported. All else passes as it is, also to methods that nobody knows.
func (l *Layout) CallArgs(method string, args []any) ([]any, error) {
	if method == "profile" {
		return l.profileArgs(args)
	}
	out := args
	for i, arg := range args {
		r, is := arg.(*LoRARequest)
		if v, byValue := arg.(LoRARequest); byValue {
			r, is = &v, true
		}
		if !is {
			continue
		}
		v, err := l.loraArg(fmt.Sprintf("%s: args[%d].", printable(method), i), r)
		if err != nil {
			return nil, err
		}
		if &out[0] == &args[0] {
			out = slices.Clone(args)
		}
		out[i] = v
	}
	return out, nil
}

func (l *Layout) loraArg(in string, r *LoRARequest) (any, error) {
	if r == nil {
		return nil, nil
	}
	if err := l.holdsLoRA("utility", "", in, r); err != nil {
		return nil, err
	}
	return l.LoRAValue(*r)
}

// profiles has the arguments that EngineCore.profile takes, by the first
// release that is known to: is_start, profile_prefix, delay_iterations,
// max_iterations, and a map in 0.33.0.
var profiles = [...]struct {
	version [3]int
	args    int
}{{[3]int{0, 33, 0}, 5}, {[3]int{0, 32, 0}, 4}, {[3]int{0, 19, 0}, 2}, {[3]int{}, 1}}

// maxProfile is where a release that is not known yet begins.
const maxProfile = 5

func (l *Layout) profileArgs(args []any) ([]any, error) {
	n := len(args)
	for n > 0 && args[n-1] == nil {
		n--
	}
	for i := len(profiles) - 1; i >= 0 && n <= maxProfile; i-- {
		p := profiles[i]
		if n > p.args {
			continue
		}
		if !older(l.version, p.version) {
			return args[:n:n], nil
		}
		err := l.lacks("", "", fOutputs, func(l *Layout) bool { return !older(l.version, p.version) })
		err.Message, err.Field = "utility", fmt.Sprintf("profile: args[%d]", n-1)
		return nil, err
	}
	return nil, &FieldError{Message: "utility", Field: "profile", Rule: fmt.Sprintf("has %d arguments, takes at most %d", n, maxProfile), Err: ErrUnsupported}
}
