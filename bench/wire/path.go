// SPDX-License-Identifier: Apache-2.0

package wire

import "strings"

// pathOf names a position in a tree as a person would: outputs[3].new_token_ids.
func pathOf(f *form, v *value, path []int) string {
	var b strings.Builder
	for _, i := range path {
		inner, name := f.step(v, i)
		b.WriteString(name)
		if i >= len(v.list) {
			break // what is missing has no inside
		}
		f, v = inner, &v.list[i]
	}
	return strings.TrimPrefix(b.String(), ".")
}

// pathAt names the innermost value that a byte of the payload belongs to.
func pathAt(f *form, v *value, at int) string {
	var path []int
	for root := v; ; {
		i := inside(v, at)
		if i < 0 {
			return pathOf(f, root, path)
		}
		path = append(path, i)
		v = &v.list[i]
	}
}

// inside gives the element that a byte belongs to, -1 for none.
func inside(v *value, at int) int {
	for i := range v.list {
		if at >= v.list[i].at && at < v.list[i].end {
			return i
		}
	}
	return -1
}
