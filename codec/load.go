// SPDX-License-Identifier: Apache-2.0

package codec

// Load is the part of the scheduler's statistics that routing reads.
type Load struct {
	Running, Waiting int
	KVUsage          float64 // in [0, 1].
	Step, Wave       int
}

// Load gives routing's part of the statistics; false when this message has none
// or they cannot be read. It scans the keys once and allocates nothing. vLLM:
// num_running_reqs, num_waiting_reqs, kv_cache_usage, step_counter, current_wave.
func (o *Outputs) Load() (Load, bool) {
	if s := o.stats.typed; s != nil {
		return Load{s.NumRunning, s.NumWaiting, s.KVCacheUsage, s.StepCounter, s.CurrentWave}, true
	}
	if o.stats.raw == nil {
		return Load{}, false
	}
	var l Load
	c := cursor{b: o.stats.raw}
	for range c.mapping() {
		switch string(c.key()) {
		case "num_running_reqs":
			l.Running = c.int()
		case "num_waiting_reqs":
			l.Waiting = c.int()
		case "kv_cache_usage":
			l.KVUsage = c.float()
		case "step_counter":
			l.Step = c.int()
		case "current_wave":
			l.Wave = c.int()
		default:
			c.skip()
		}
	}
	if !c.ok() {
		return Load{}, false
	}
	return l, true
}

// Stats decodes the whole statistics, each time anew; nil when this message has
// none. Keys that a release lacks are zero. The error is a *DecodeError. Maps
// and slices in it are the caller's.
func (o *Outputs) Stats() (*SchedulerStats, error) {
	if o.stats.raw == nil {
		return o.stats.typed, nil
	}
	c := &cursor{b: o.stats.raw}
	s := &SchedulerStats{}
	c.record(s)
	if err := c.err("scheduler stats", -1); err != nil {
		return nil, err
	}
	return s, nil
}

// SetStats sets the statistics to be encoded, whose memory is kept; nil removes
// them.
func (o *Outputs) SetStats(s *SchedulerStats) { o.stats = statsField{typed: s} }
