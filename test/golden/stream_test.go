package golden

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Stream is what an event stream must be like. How many events of a name come, and in which order, depends on the nodes
// of the graph, so that is left open; which names come, and which is the first and the last, is not.
type Stream struct {
	First string `json:"first"`
	Last  string `json:"last"`
	// Events has the shape of each event's data, by name; for "messages" by name and type of message: "messages:tool".
	Events map[string]*Shape `json:"events"`
}

// Frame is one event of a stream.
type Frame struct {
	Event, ID string
	Data      any
}

// Key is under which name [Stream] holds the shape of the frame. The ids of sub-agents are left out.
func (f *Frame) Key() string {
	name, sub, _ := strings.Cut(f.Event, "|")
	if sub != "" {
		name += "|"
	}
	if list, ok := f.Data.([]any); ok && name == "messages" && len(list) > 0 {
		if m, ok := list[0].(map[string]any); ok {
			return fmt.Sprintf("messages:%v", m["type"])
		}
	}
	return name
}

// Value is the data as a shape describes it: of a "messages" event the pair of message and metadata by name.
func (f *Frame) Value() any {
	name, _, _ := strings.Cut(f.Event, "|")
	if pair, ok := f.Data.([]any); ok && name == "messages" && len(pair) == 2 {
		return map[string]any{"message": pair[0], "metadata": pair[1]}
	}
	return f.Data
}

// ReadFrames reads events until the stream ends or limit events have been read; 0 means no limit. Comments are skipped.
func ReadFrames(r io.Reader, limit int) ([]Frame, error) {
	return readFrames(r, limit, func(*Frame) {})
}

// readFrames calls each with every event as it comes.
func readFrames(r io.Reader, limit int, each func(*Frame)) ([]Frame, error) {
	var frames []Frame
	var f Frame
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 32<<20)
	for lines.Scan() {
		line := lines.Text()
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && f.Event != "":
			each(&f)
			frames = append(frames, f)
			f = Frame{}
			if len(frames) == limit {
				return frames, nil
			}
		case name == "event":
			f.Event = value
		case name == "id":
			f.ID = value
		case name == "data":
			if err := json.Unmarshal([]byte(value), &f.Data); err != nil {
				return frames, fmt.Errorf("event %q has data that is no JSON: %w", f.Event, err)
			}
		}
	}
	return frames, lines.Err()
}

func (c *check) stream(s *Stream, frames []Frame, cut bool) {
	if len(frames) == 0 {
		c.failf("stream", "is empty")
		return
	}
	if first := frames[0].Key(); first != s.First {
		c.failf("stream", "begins with %q, want %q", first, s.First)
	}
	if last := frames[len(frames)-1].Key(); last != s.Last && !cut {
		c.failf("stream", "ends with %q, want %q", last, s.Last)
	}
	seen := map[string]bool{}
	for i := range frames {
		f := &frames[i]
		key := f.Key()
		shape, ok := s.Events[key]
		if !ok && !seen[key] {
			c.failf(key, "is an event that the recording has not")
		}
		seen[key] = true
		c.value(key, shape, f.Value())
	}
	for key := range s.Events {
		if !seen[key] && !cut {
			c.failf(key, "does not come")
		}
	}
	slices.Sort(c.found)
	c.found = slices.Compact(c.found)
}
