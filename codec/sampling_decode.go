// SPDX-License-Identifier: Apache-2.0

package codec

// parameter is a sampling parameter and where its value lives.
type parameter struct {
	field field
	ptr   any
}

// sampling reads the map of sampling parameters, nil for nil. Unlike other
// records it is strict, as an engine is: nil only where vLLM's type has it, and
// keys that the release does not know are read over.
func (c *cursor) sampling(l *Layout) *SamplingParams {
	if c.null() {
		return nil
	}
	s := &SamplingParams{}
	all := s.parameters()
	next := 0
	for range c.mapping() {
		key := c.key()
		i := findParameter(all, key, next)
		if i < 0 || !l.sampling.has(all[i].field) {
			c.skip()
			continue
		}
		next = i + 1
		c.field = all[i].field.String()
		c.samplingValue(l, s, all[i])
		if !c.ok() {
			return nil
		}
	}
	return s
}

// findParameter is find for sampling parameters.
func findParameter(all []parameter, key []byte, next int) int {
	for k := range all {
		i := (next + k) % len(all)
		if fieldNames[all[i].field] == string(key) {
			return i
		}
	}
	return -1
}

func (c *cursor) samplingValue(l *Layout, s *SamplingParams, f parameter) {
	switch f.field {
	case fMaxTokens:
		if c.null() {
			s.MaxTokens = NoLimit
			return
		}
	case fStop:
		if c.isText() {
			s.Stop = []string{c.string()}
			return
		}
	case fGuidedDecoding:
		c.guided(s)
		return
	case fPromptLogprobTokenIDs:
		s.PromptLogprobTokenIDs = c.promptLogprobTokenIDs(l)
		return
	case fOwnAllStopTokenIDs:
		if c.peek() == mNil {
			c.fail("array expected")
		}
	}
	switch f.ptr.(type) {
	case *int, *bool, *float64:
		if c.peek() == mNil {
			c.fail("nil is not allowed")
		}
	}
	c.bound(f.ptr)
}

func (c *cursor) isText() bool {
	lead := c.peek()
	return lead&0xe0 == 0xa0 || lead >= mStr8 && lead <= mStr32
}
