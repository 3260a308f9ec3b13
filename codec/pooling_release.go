// SPDX-License-Identifier: Apache-2.0

package codec

// What pooling parameters are called in older releases. Before 0.16.0 an
// embedding was asked to be normalised by "normalize"; before 0.11.1 a class to
// be activated by "activation", and what the task "encode" gave by "softmax". A
// head of the model looks at its own alone.

// activation gives what the release has in field f of the meaning of
// UseActivation.
func (l *Layout) activation(p *PoolingParams, f field) *bool {
	mine := false
	switch f {
	case fUseActivation:
		mine = true
	case fNormalize:
		mine = p.Task == "" || p.Task == TaskEmbed || p.Task == TaskTokenEmbed
	case fActivation, fSoftmax:
		if position(l.pooling, fUseActivation) < 0 {
			classifies := p.Task == TaskClassify || p.Task == oldScore
			mine = p.Task == "" || p.Task != TaskEmbed && classifies == (f == fActivation)
		}
	}
	if mine {
		return p.UseActivation
	}
	return nil
}

// oldScore and oldEncode are tasks that engines no longer take. We refuse them
// in requests, but read them, and write what we read.
const (
	oldScore  = "score"
	oldEncode = "encode"
)

func (l *Layout) hasActivation() bool {
	return position(l.pooling, fUseActivation) >= 0 || position(l.pooling, fNormalize) >= 0
}

// hasTask reports whether an engine of the release takes a task; its input does
// not survive others. The tasks of single tokens came with 0.11.1 in place of
// "encode". Two are not written down by release: "plugin" is taken for known
// since 0.12.0 and the double task since 0.20.0, the first of which we have
// seen it.
func (l *Layout) hasTask(task string) bool {
	if position(l.pooling, fTask) < 0 {
		return task == ""
	}
	switch task {
	case TaskTokenEmbed, TaskTokenClassify:
		return !l.before(0, 11, 1)
	case TaskPlugin:
		return !l.before(0, 12, 0)
	case TaskEmbedAndTokenClassify:
		return !l.before(0, 20, 0)
	case oldEncode:
		return l.before(0, 11, 1)
	case oldScore:
		return l.before(0, 20, 0)
	}
	return true
}

// skipReading gives skip_reading_prefix_cache, which 0.11.1 and 0.11.2 cannot
// read as nil: it is left to the task there, which needs all positions of a
// prompt where tokens are asked about one by one.
func (l *Layout) skipReading(p *PoolingParams) *bool {
	if p.SkipReadingPrefixCache != nil || !l.before(0, 12, 0) {
		return p.SkipReadingPrefixCache
	}
	return new(p.Task == TaskTokenEmbed || p.Task == TaskTokenClassify)
}
