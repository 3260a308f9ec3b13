// SPDX-License-Identifier: Apache-2.0

package codec

// Counts is what a coordinator publishes to clients: [rows or nil, wave,
// running].
type Counts struct {
	// Rows has one entry an engine in rank order; nil in messages that only
	// tell of a wave.
	Rows []CountsRow
	Wave int
	// Running says that the engines are in a wave.
	Running bool
}

// CountsRow is one engine's load: [waiting, running, kv usage]. Before 0.29.0
// it has no KVUsage.
type CountsRow struct {
	Waiting, Running int
	KVUsage          float64
}

// AppendCounts appends a coordinator's publication as it is since 0.29.0.
func AppendCounts(dst []byte, p *Counts) []byte { return appendCounts(dst, p, true) }

// AppendCounts appends a coordinator's publication with rows of two numbers, or
// of three, as clients of the release read them.
func (l *Layout) AppendCounts(dst []byte, p *Counts) []byte {
	return appendCounts(dst, p, l.ReportsKVUsage())
}

func appendCounts(dst []byte, p *Counts, usage bool) []byte {
	b := append(dst, 0x93)
	if p.Rows == nil {
		b = append(b, mNil)
	} else {
		b = appendArray(b, len(p.Rows))
		for _, r := range p.Rows {
			b = appendInt(appendInt(appendArray(b, 2+btoi(usage)), r.Waiting), r.Running)
			if usage {
				b = appendFloat(b, r.KVUsage)
			}
		}
	}
	return appendBool(appendInt(b, p.Wave), p.Running)
}

// DecodeCounts reads a coordinator's publication, with rows of two elements or
// three. The error is a *DecodeError.
func DecodeCounts(payload []byte) (*Counts, error) {
	c := &cursor{b: payload}
	p := &Counts{}
	n := c.array()
	if c.ok() && n < 3 {
		c.fail("array of three expected")
	}
	c.field = "counts"
	if !c.null() {
		rows := c.array()
		p.Rows = make([]CountsRow, 0, min(rows, c.left()/3+1))
		for range rows {
			p.Rows = append(p.Rows, c.countsRow())
			if !c.ok() {
				break
			}
		}
	}
	c.field = "wave"
	p.Wave = c.int()
	c.field = "running"
	p.Running = c.bool()
	for range n - 3 {
		c.skip()
	}
	c.end()
	if err := c.err("counts", -1); err != nil {
		return nil, err
	}
	return p, nil
}

func (c *cursor) countsRow() (r CountsRow) {
	n := c.array()
	if c.ok() && n < 2 {
		c.fail("row of two elements expected")
	}
	r.Waiting, r.Running = c.int(), c.int()
	if n > 2 {
		r.KVUsage = c.float()
	}
	for range n - 3 {
		c.skip()
	}
	return r
}

// CoordinatorCall is what a client tells a coordinator: a first request while
// the engines rest (up to 0.32.0), or a new number of engines.
type CoordinatorCall struct {
	// Scale is the new number of engines; 0 makes it a first request.
	// vLLM: SCALE_ELASTIC_EP.
	Scale int
	// Engine is the one that got the first request. vLLM: FIRST_REQ.
	Engine Exclude
	// Wave is the client's.
	Wave int
}

const scaleWord = "SCALE_ELASTIC_EP"

// AppendCoordinatorCall appends [engine, wave] or ["SCALE_ELASTIC_EP", engines].
// A coordinator does not survive anything else.
func AppendCoordinatorCall(dst []byte, call CoordinatorCall) []byte {
	if call.Scale != 0 {
		return appendInt(appendString(append(dst, 0x92), scaleWord), call.Scale)
	}
	return appendInt(appendExclude(append(dst, 0x92), call.Engine), call.Wave)
}

// DecodeCoordinatorCall reads a client's message to a coordinator. The error is
// a *DecodeError.
func DecodeCoordinatorCall(payload []byte) (CoordinatorCall, error) {
	var call CoordinatorCall
	c := cursor{b: payload}
	n := c.array()
	if c.ok() && n < 2 {
		c.fail("array of two expected")
	}
	if c.ok() && c.isText() {
		if string(c.text()) != scaleWord {
			c.fail("unknown word")
		}
		if call.Scale = c.int(); c.ok() && call.Scale < 1 {
			c.fail("number of engines must be at least 1")
		}
	} else {
		call.Engine = c.exclude()
		call.Wave = c.int()
	}
	for range n - 2 {
		c.skip()
	}
	c.end()
	return call, c.err("coordinator call", -1)
}
