package agent

import "github.com/pudu-ai/pudu/tool"

// lanes says for each call which one before it must have ended first, as an index into the calls; its own for none. A
// call waits for the last one of its lane alone, so that those of other lanes go on side by side.
func (r *run) lanes(open []openCall) []int {
	before, last := make([]int, len(open)), make(map[string]int)
	for i, call := range open {
		before[i] = i
		o, ok := r.tools.byName[call.Name].tool.(tool.Ordered)
		if !ok {
			continue
		}
		lane := o.Lane(call.Args)
		if lane == "" {
			continue
		}
		if n, ok := last[lane]; ok {
			before[i] = n
		}
		last[lane] = i
	}
	return before
}
