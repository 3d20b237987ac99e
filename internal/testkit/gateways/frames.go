package gateways

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// Frame is one server-sent event.
type Frame struct{ Event, Data, ID string }

// ParseSSE reads the frames of a stream; comments are left out.
func ParseSSE(t *testing.T, body string) (out []Frame) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		var f Frame
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "event":
				f.Event = value
			case "data":
				f.Data = value
			case "id":
				f.ID = value
			case "":
			default:
				t.Errorf("line %q", line)
			}
		}
		if f.Event != "" {
			out = append(out, f)
		}
	}
	return out
}

// Events are the names of frames.
func Events(fs []Frame) (names []string) {
	for _, f := range fs {
		names = append(names, f.Event)
	}
	return names
}

// Follow starts following a run and returns what comes until it ends.
func (k *Kit) Follow(path string) <-chan []Frame {
	out := make(chan []Frame, 1)
	go func() { out <- ParseSSE(k.T, k.Do("GET", path, "").Body.String()) }()
	return out
}

// FramesOf are the frames of a stream, as they come.
func FramesOf(body io.Reader) <-chan Frame {
	frames := make(chan Frame, 100)
	go func() {
		defer close(frames)
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, 1<<20)
		var f Frame
		for lines.Scan() {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
			case "event":
				f.Event = value
			case "data":
				f.Data = value
			case "":
				if f.Event != "" {
					frames <- f
				}
				f = Frame{}
			}
		}
	}()
	return frames
}
