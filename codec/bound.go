// SPDX-License-Identifier: Apache-2.0

package codec

// appendBound appends what a binding points to.
func appendBound(b []byte, ptr any) ([]byte, error) {
	switch p := ptr.(type) {
	case *int:
		return appendInt(b, *p), nil
	case *bool:
		return appendBool(b, *p), nil
	case *float64:
		return appendFloat(b, *p), nil
	case *string:
		return appendString(b, *p), checkText(*p)
	case *nilable:
		return appendText(b, string(*p)), checkText(string(*p))
	case **int:
		return appendOptInt(b, *p), nil
	case **bool:
		return appendOptBool(b, *p), nil
	case **float64:
		if *p == nil {
			return append(b, mNil), nil
		}
		return appendFloat(b, **p), nil
	case *[]string:
		return appendList(b, *p, appendString), checkText(*p...)
	case *nilableList:
		return appendStrings(b, *p), checkText(*p...)
	case *[]int:
		return appendList(b, *p, appendInt), nil
	case *[]float64:
		return appendList(b, *p, appendFloat), nil
	case *map[string]int:
		b = appendMap(b, len(*p))
		for k, v := range *p {
			b = appendInt(appendString(b, k), v)
		}
		return b, nil
	case *map[string]any:
		if *p == nil {
			return append(b, mNil), nil
		}
		return AppendValue(b, *p)
	case *any:
		return AppendValue(b, *p)
	case nested:
		return p.appendTo(b)
	}
	return b, &FieldError{Message: "record", Field: "binding", Rule: "has no wire form"}
}

func checkText(all ...string) error {
	if !validText(all...) {
		return &FieldError{Message: "record", Field: "string", Rule: "is not valid UTF-8"}
	}
	return nil
}

// appendList never writes nil: these lists are not optional.
func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	b = appendArray(b, len(list))
	for _, v := range list {
		b = one(b, v)
	}
	return b
}

// bound reads into what a binding points to.
func (c *cursor) bound(ptr any) {
	switch p := ptr.(type) {
	case nested:
		p.readFrom(c)
		return
	case *any:
		*p = c.any(0)
		return
	case present[float64]:
		*p.p = new(c.float())
		return
	case present[bool]:
		*p.p = new(c.bool())
		return
	}
	if c.null() {
		return
	}
	switch p := ptr.(type) {
	case *int:
		*p = c.int()
	case *bool:
		*p = c.bool()
	case *float64:
		*p = c.float()
	case *string:
		*p = c.string()
	case *nilable:
		*p = nilable(c.text())
	case **int:
		*p = new(c.int())
	case **int64:
		*p = new(c.int64())
	case **uint32:
		*p = new(c.token())
	case **bool:
		*p = new(c.bool())
	case **float64:
		*p = new(c.float())
	default:
		c.boundList(ptr)
	}
}

func (c *cursor) boundList(ptr any) {
	switch p := ptr.(type) {
	case *[]string:
		*p = c.strings()
	case *nilableList:
		*p = c.strings()
	case *[]uint32:
		*p = c.tokenList()
	case *[][]uint32:
		*p = make([][]uint32, c.array())
		for i := range *p {
			(*p)[i] = c.tokenList()
		}
	case *[]int:
		*p = make([]int, c.array())
		for i := range *p {
			(*p)[i] = c.int()
		}
	case *[]float64:
		*p = make([]float64, c.array())
		for i := range *p {
			(*p)[i] = c.float()
		}
	case *map[string]int:
		*p = map[string]int{}
		for range c.mapping() {
			k := c.string()
			(*p)[k] = c.int()
		}
	case *map[int]float64:
		*p = map[int]float64{}
		for range c.mapping() {
			k := c.int()
			(*p)[k] = c.float()
		}
	case *map[string]any:
		*p = c.params()
	case **Tensor:
		*p = c.tensor()
	default:
		c.fail("no wire form")
	}
}

// strings reads an array of strings, nil for nil.
func (c *cursor) strings() []string {
	if c.null() {
		return nil
	}
	out := make([]string, c.array())
	for i := range out {
		if out[i] = c.string(); !c.ok() {
			return nil
		}
	}
	return out
}

// headers reads a map of strings, nil for nil.
func (c *cursor) headers() map[string]string {
	if c.null() {
		return nil
	}
	n := c.mapping()
	out := make(map[string]string, min(n, 16))
	for range n {
		k := c.string()
		out[k] = c.string()
	}
	if !c.ok() {
		return nil
	}
	return out
}
