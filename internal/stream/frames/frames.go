// Package frames turns the events of a run into the frames that LangGraph's clients read: server-sent events, by stream
// mode.
//
//	store (what was) and bus (what is) -> events, in order -> Projector -> frames -> one client
//
// A [Projector] does no I/O and belongs to one reader. It is given the run's events from the first one on, whatever the
// reader has seen, and leaves out the frames up to the place that the reader names. So the frames and their ids are the
// same for every reader who asks for the same modes, whether it was there from the start or comes back later.
package frames

import (
	"fmt"
	"slices"
	"strings"
)

// Mode is a stream mode, under the name by which clients ask for it.
type Mode string

// The modes. The frames of a mode carry its name as their event, but for MessagesTuple and Messages.
const (
	// Values: the whole state whenever it has changed.
	Values Mode = "values"
	// Updates: what each node has written.
	Updates Mode = "updates"
	// MessagesTuple: pieces of messages as they are written, and whole ones, as "messages" [message, metadata].
	MessagesTuple Mode = "messages-tuple"
	// Messages is the older form: "messages/partial" holds all of the message so far, "messages/complete" the finished
	// one.
	Messages Mode = "messages"
	// Custom: what tools and middlewares want clients to see.
	Custom Mode = "custom"
	// Tasks: the beginning and the result of each node.
	Tasks Mode = "tasks"
	// Checkpoints: each checkpoint with its state.
	Checkpoints Mode = "checkpoints"
	// Debug: tasks and checkpoints with their step and time.
	Debug Mode = "debug"
)

func known() []Mode {
	return []Mode{Values, Updates, MessagesTuple, Messages, Custom, Tasks, Checkpoints, Debug}
}

// modeSet is a set of modes; its bits are in the order of known.
type modeSet uint16

const (
	inValues modeSet = 1 << iota
	inUpdates
	inTuples
	inMessages
	inCustom
	inTasks
	inCheckpoints
	inDebug
)

func setOf(modes []Mode) (set modeSet) {
	for i, m := range known() {
		if slices.Contains(modes, m) {
			set |= 1 << i
		}
	}
	return set
}

// ParseModes reads the modes that a client asks for, without duplicates; none means [Values]. An error names the one
// that is unknown.
func ParseModes(names []string) ([]Mode, error) {
	var out []Mode
	for _, name := range names {
		m := Mode(name)
		if !slices.Contains(known(), m) {
			return nil, fmt.Errorf("stream mode %.60q is not supported; choose among %s", name, list())
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return []Mode{Values}, nil
	}
	return out, nil
}

func list() string {
	var names []string
	for _, m := range known() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// Frame is one server-sent event.
type Frame struct {
	// ID names the frame within the run; see [FrameID]. Empty if it cannot be resumed from.
	ID string
	// Event is the mode, or "metadata", "error" or "end"; inside a sub-agent "|" and its path follow.
	Event string
	// Data is JSON on one line. Whoever gets a frame must not change it.
	Data []byte
}

// EndFrame is the end of the stream of a run without events: one that was cancelled before it began.
func EndFrame() Frame { return Frame{Event: "end", Data: null} }

var null = []byte("null")

// AppendSSE appends the frame as it is sent.
func (f Frame) AppendSSE(b []byte) []byte {
	b = append(b, "event: "...)
	b = append(b, f.Event...)
	b = append(b, "\ndata: "...)
	b = append(b, f.Data...)
	if f.ID != "" {
		b = append(b, "\nid: "...)
		b = append(b, f.ID...)
	}
	return append(b, "\n\n"...)
}
