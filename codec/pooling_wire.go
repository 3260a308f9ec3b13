// SPDX-License-Identifier: Apache-2.0

package codec

func (e *encoder) pooling(l *Layout, p *PoolingParams) {
	if p == nil {
		e.b = append(e.b, mNil)
		return
	}
	e.b = appendArray(e.b, len(l.pooling))
	for _, s := range l.pooling {
		e.poolingField(p, s)
	}
}

func (e *encoder) poolingField(p *PoolingParams, s slot) {
	switch s.field {
	case fUseActivation, fNormalize, fActivation, fSoftmax:
		e.b = appendOptBool(e.b, e.layout.activation(p, s.field))
	case fDimensions:
		e.b = appendOptInt(e.b, p.Dimensions)
	case fStepTagID:
		e.b = appendOptInt(e.b, p.StepTagID)
	case fReturnedTokenIDs:
		e.b = appendTokens(e.b, p.ReturnedTokenIDs)
	case fTask:
		e.b = appendText(e.b, p.Task)
	case fRequiresTokenIDs:
		e.b = appendBool(e.b, p.RequiresTokenIDs)
	case fSkipReadingPrefixCache:
		e.b = appendOptBool(e.b, e.layout.skipReading(p))
	case fLateInteractionParams:
		if p.LateInteraction == nil {
			e.b = append(e.b, mNil)
			return
		}
		e.b = appendString(append(e.b, 0x93), p.LateInteraction.Mode)
		e.b = appendString(e.b, p.LateInteraction.QueryKey)
		e.b = appendOptInt(e.b, p.LateInteraction.QueryUses)
	case fExtraKwargs:
		e.params("pooling_params.extra_kwargs", p.ExtraKwargs)
	case fLateChunkingParams:
		if p.LateChunking == nil {
			e.b = append(e.b, mNil)
			return
		}
		e.b = appendInt(append(e.b, 0x91), p.LateChunking.ChunkSize)
	default:
		e.b = append(e.b, s.zero)
	}
}

func (c *cursor) pooling(l *Layout) *PoolingParams {
	if c.null() {
		return nil
	}
	p := &PoolingParams{}
	for i := range c.array() {
		if i >= len(l.pooling) {
			c.skip()
			continue
		}
		c.poolingField(p, l.pooling[i].field)
	}
	return p
}

func (c *cursor) poolingField(p *PoolingParams, f field) {
	switch f {
	case fUseActivation, fNormalize, fActivation, fSoftmax:
		if !c.null() {
			p.UseActivation = new(c.bool())
		}
	case fDimensions:
		c.bound(&p.Dimensions)
	case fStepTagID:
		c.bound(&p.StepTagID)
	case fReturnedTokenIDs:
		p.ReturnedTokenIDs = c.tokenList()
	case fTask:
		p.Task = c.optText()
	case fRequiresTokenIDs:
		p.RequiresTokenIDs = c.bool()
	case fSkipReadingPrefixCache:
		c.bound(&p.SkipReadingPrefixCache)
	case fLateInteractionParams:
		p.LateInteraction = c.lateInteraction()
	case fExtraKwargs:
		p.ExtraKwargs = c.params()
	case fOutputKind:
		if c.int() != int(FinalOnly) {
			c.fail("output kind of a pooling request must be 2")
		}
	case fLateChunkingParams:
		if !c.null() {
			p.LateChunking = &LateChunking{}
			for i := range c.array() {
				c.atOrSkip(i, &p.LateChunking.ChunkSize)
			}
		}
	default:
		c.skip()
	}
}

func (c *cursor) lateInteraction() *LateInteraction {
	if c.null() {
		return nil
	}
	p := &LateInteraction{}
	for i := range c.array() {
		c.atOrSkip(i, &p.Mode, &p.QueryKey, &p.QueryUses)
	}
	return p
}

// atOrSkip reads element i of an array into the pointer of that position, and
// reads over what is beyond them.
func (c *cursor) atOrSkip(i int, ptrs ...any) {
	if i < len(ptrs) {
		c.bound(ptrs[i])
		return
	}
	c.skip()
}
