// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Lengths is a distribution of lengths in tokens. As text, which is what a command's
// flag takes, it is one of
//
//	512                  always the same
//	uniform:100:900      each one from 100 to 900 alike
//	exponential:300      with mean 300
//	lognormal:512:1      512 in the middle; the logarithm's standard deviation is 1
//
// What is drawn is rounded and at least 1 and at most 131,072. The zero value stands
// for a default.
type Lengths struct {
	kind string
	a, b float64
}

// Fixed is always n.
func Fixed(n int) Lengths { return Lengths{"fixed", float64(n), 0} }

// Uniform gives each length from least to most the same chance.
func Uniform(least, most int) Lengths { return Lengths{"uniform", float64(least), float64(most)} }

// Exponential has a mean.
func Exponential(mean float64) Lengths { return Lengths{"exponential", mean, 0} }

// Lognormal has a median, and a standard deviation of the natural logarithm.
func Lognormal(median, sigma float64) Lengths { return Lengths{"lognormal", median, sigma} }

const longest = 128 << 10

func (l Lengths) draw(r *rand.Rand) int {
	v := l.a
	switch l.kind {
	case "uniform":
		v = math.Floor(l.a + r.Float64()*(l.b-l.a+1))
	case "exponential":
		v *= r.ExpFloat64()
	case "lognormal":
		v *= math.Exp(l.b * r.NormFloat64())
	}
	return int(max(1, min(longest, math.Round(v))))
}

// String is the text form; "default" for the zero value.
func (l Lengths) String() string {
	a, b := strconv.FormatFloat(l.a, 'g', -1, 64), strconv.FormatFloat(l.b, 'g', -1, 64)
	switch l.kind {
	case "":
		return "default"
	case "fixed":
		return a
	case "exponential":
		return l.kind + ":" + a
	}
	return l.kind + ":" + a + ":" + b
}

// UnmarshalText reads the text form.
func (l *Lengths) UnmarshalText(text []byte) error {
	kind, rest, named := strings.Cut(string(text), ":")
	if !named {
		kind, rest = "fixed", kind
	}
	numbers := strings.Split(rest, ":")
	n, ok := map[string]int{"fixed": 1, "exponential": 1, "uniform": 2, "lognormal": 2}[kind]
	if !ok || len(numbers) != n {
		return fmt.Errorf("%q is none of N, uniform:LEAST:MOST, exponential:MEAN, lognormal:MEDIAN:SIGMA", text)
	}
	v := [2]float64{}
	for i, s := range numbers {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || !(f >= 0 && f <= longest) {
			return fmt.Errorf("%q: %s is not a number from 0 to %d", text, s, longest)
		}
		v[i] = f
	}
	if v[0] < 1 || kind == "uniform" && v[1] < v[0] {
		return fmt.Errorf("%q: lengths begin at 1, and the second is not less than the first", text)
	}
	*l = Lengths{kind, v[0], v[1]}
	return nil
}
