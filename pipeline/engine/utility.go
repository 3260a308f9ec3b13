// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"maps"
	"slices"
)

// utilities is the part of a Sim that methods change.
type utilities struct {
	paused   pause
	sleeping bool
	weights  string // "" is "default"
	loras    map[int64]struct{}
}

// pause says what a paused scheduler still does.
type pause uint8

const (
	unpaused pause = iota
	drained        // nothing new starts
	frozen         // nothing moves
)

// arity is the most arguments that a method takes in vLLM 0.32 and 0.33; false
// when it has no such method.
func arity(method string) (int, bool) {
	switch method {
	case "get_supported_tasks", "reset_mm_cache", "reset_encoder_cache", "execute_dummy_batch",
		"release_kv_cache_memory", "is_sleeping", "is_scheduler_paused", "get_weight_version",
		"resume_scheduler", "list_loras", "compute_weight_checksums", "get_kv_cache_group_metadata", "barrier":
		return 0, true
	case "wake_up", "set_weight_version", "add_lora", "remove_lora", "pin_lora":
		return 1, true
	case "reset_prefix_cache", "sleep", "pause_scheduler", "pause_generation":
		return 2, true
	case "save_sharded_state":
		return 3, true
	case "collective_rpc":
		return 4, true
	case "profile":
		return 5, true
	}
	return 0, false
}

// Utility implements Core with vLLM's methods. Sleeping, pausing, weight versions
// and LoRA adapters have effect; a pause answers at once, in mode "wait" too. The
// others answer what an engine plausibly would.
func (s *Sim) Utility(method string, args []any) (any, error) {
	most, ok := arity(method)
	if !ok {
		return nil, fmt.Errorf("'EngineCoreProc' object has no attribute '%s'", method)
	}
	if len(args) > most {
		return nil, fmt.Errorf("EngineCore.%s() takes %d positional arguments but %d were given", method, most+1, len(args)+1)
	}
	switch method {
	case "get_supported_tasks":
		return []any{"generate"}, nil
	case "reset_prefix_cache":
		return true, nil
	case "collective_rpc":
		return []any{nil}, nil
	case "compute_weight_checksums":
		return []any{map[string]any{}}, nil
	case "get_kv_cache_group_metadata":
		return []any{}, nil
	case "get_weight_version":
		return s.version(), nil
	case "set_weight_version":
		v, ok := argument(args, 0).(string)
		if !ok {
			return nil, fmt.Errorf("EngineCore.%s() wants a string", method)
		}
		s.weights = v
		return nil, nil
	case "add_lora", "remove_lora", "pin_lora", "list_loras":
		return s.lora(method, argument(args, 0))
	}
	return s.control(method, args)
}

// control runs the methods about sleeping and pausing; what is left does nothing.
func (s *Sim) control(method string, args []any) (any, error) {
	switch method {
	case "is_sleeping":
		return s.sleeping || s.paused != unpaused, nil
	case "is_scheduler_paused":
		return s.paused != unpaused, nil
	case "pause_scheduler", "pause_generation":
		return nil, s.pause(argument(args, 0))
	case "sleep":
		level, given := number(argument(args, 0))
		if err := s.pause(argument(args, 1)); err != nil {
			return nil, err
		}
		s.sleeping = !given || level >= 1
	case "resume_scheduler":
		s.paused = unpaused
	case "wake_up":
		s.paused, s.sleeping = unpaused, false
		return true, nil
	}
	return nil, nil
}

// pause stops the scheduler in one of vLLM's modes.
func (s *Sim) pause(mode any) error {
	switch mode {
	case nil, "abort":
		s.abortAll()
		s.paused = drained
	case "wait":
		s.paused = drained
	case "keep":
		s.paused = frozen
	default:
		return fmt.Errorf("no such pause mode: %v", mode)
	}
	return nil
}

// lora keeps the set of adapters that were added.
func (s *Sim) lora(method string, arg any) (any, error) {
	if method == "list_loras" {
		ids := []any{}
		for _, id := range slices.Sorted(maps.Keys(s.loras)) {
			ids = append(ids, id)
		}
		return ids, nil
	}
	if request, ok := arg.([]any); ok && method == "add_lora" { // name, id, path, …
		arg = argument(request, 1)
	}
	id, ok := number(arg)
	if !ok {
		return nil, fmt.Errorf("EngineCore.%s() wants an adapter", method)
	}
	_, known := s.loras[id]
	switch method {
	case "add_lora":
		if s.loras == nil {
			s.loras = map[int64]struct{}{}
		}
		s.loras[id] = struct{}{}
		return true, nil
	case "remove_lora":
		delete(s.loras, id)
	}
	return known, nil
}

// version is that of the weights.
func (s *Sim) version() string {
	if s.weights == "" {
		return "default"
	}
	return s.weights
}

// argument is the i-th, nil when it was not given.
func argument(args []any, i int) any {
	if i >= len(args) {
		return nil
	}
	return args[i]
}

// number reads an integer, decoded or a caller's own.
func number(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	}
	return 0, false
}
