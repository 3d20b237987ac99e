package loopdetection

import (
	"fmt"
	"slices"
	"strings"
)

// verdict is what is done about the newest calls.
type verdict struct {
	repeated bool     // the model is warned of a repetition
	often    []string // tools whose number of calls it is told of
	words    []string // what it is told
	stop     string   // why the run ends; empty if it goes on
}

func (v verdict) text() string {
	if v.stop != "" {
		return v.stop
	}
	return strings.Join(v.words, "\n")
}

// judge decides about the newest unit of the record, which called the tools.
func (m *Middleware) judge(s seen, calls []string) verdict {
	if stop := m.stops(s, calls); stop != "" {
		return verdict{stop: stop}
	}
	var v verdict
	if n := s.repeats(); n >= m.cfg.WarnThreshold && !s.warned() {
		v.repeated = true
		v.words = append(v.words,
			fmt.Sprintf("The same call (%s) brought the same result %d times. Calling it again changes nothing: "+
				"use that result, try another way, or answer with what you have. After %d times the run ends.",
				named(calls), n, m.cfg.HardLimit))
	}
	for _, tool := range calls {
		if n := s.count(tool); n >= m.rule(tool).Warn && !slices.Contains(s.Told, tool) {
			v.often = append(v.often, tool)
			v.words = append(v.words,
				fmt.Sprintf("%s was called %d times by now. Once you have what the task needs, go on to the next "+
					"step; call it again only for something new.", tool, n))
		}
	}
	return v
}

// stops says why the run must end; empty if it must not.
func (m *Middleware) stops(s seen, calls []string) string {
	if n := s.repeats(); n >= m.cfg.HardLimit {
		return fmt.Sprintf("The run ends here: the same call (%s) brought the same result %d times.", named(calls), n)
	}
	for _, tool := range calls {
		if n := s.idle(tool); n >= m.rule(tool).HardLimit {
			return fmt.Sprintf("The run ends here: the last %d calls of %s brought nothing new.", n, tool)
		}
	}
	if n := s.idle(""); n >= m.calls {
		return fmt.Sprintf("The run ends here: the last %d calls brought nothing new.", n)
	}
	return ""
}

// tools are the names of the tools that were called, each once.
func (s seen) tools() (names []string) {
	for _, c := range s.Calls {
		if !slices.Contains(names, c.Tool) {
			names = append(names, c.Tool)
		}
	}
	return names
}

// named lists at most three names.
func named(tools []string) string {
	if len(tools) > 3 {
		return strings.Join(tools[:3], ", ") + " and others"
	}
	return strings.Join(tools, ", ")
}
