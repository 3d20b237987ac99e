package viewer

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Frame is one server-sent event.
type Frame struct{ ID, Event, Data string }

// Read hands on the frames of a stream until it ends, and returns why it did; a part of a frame at the end is dropped.
func Read(body io.Reader, each func(Frame)) error {
	var f Frame
	for src := bufio.NewReader(body); ; {
		line, err := src.ReadString('\n')
		if err != nil {
			return err
		}
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		switch name {
		case "id":
			f.ID = value
		case "event":
			f.Event = value
		case "data":
			f.Data = value
		case "":
			if f != (Frame{}) && value == "" {
				each(f)
			}
			f = Frame{}
		}
	}
}

// Piece reports whether the frame is a piece of a message that is not finished.
func (f Frame) Piece() bool {
	return f.Event == "messages" && strings.Contains(f.Data, "AIMessageChunk") &&
		!strings.Contains(f.Data, `"chunk_position":"last"`)
}

// End reports whether the frame is the last one of its run.
func (f Frame) End() bool { return f.Event == "end" }

// Pieces counts them.
func Pieces(frames []Frame) (n int) {
	for _, f := range frames {
		if f.Piece() {
			n++
		}
	}
	return n
}

// number is a frame's id in parts: attempt, number, part, where the last part is the greatest.
func number(id string) (out [3]int64, err error) {
	name, part, parts := strings.Cut(id, ".")
	attempt, n, ok := strings.Cut(name, "-")
	if !parts {
		part = "1000000"
	}
	for i, s := range []string{attempt, n, part} {
		if out[i], err = strconv.ParseInt(s, 10, 64); err != nil || !ok {
			return out, fmt.Errorf("the id %q is none", id)
		}
	}
	return out, nil
}

// Compare compares what a client saw until the end, over all its connections, with what a reader from the start sees
// now. Each frame must have come once, in order and with the same bytes. Only pieces of an answer that was cut off may
// have come beside them, and then a frame says so. It returns how many these were.
func Compare(t testing.TB, seen, all []Frame) (void int) {
	t.Helper()
	ids := make([][3]int64, len(seen))
	for i, f := range seen {
		var err error
		if ids[i], err = number(f.ID); err != nil {
			t.Fatal(err)
		}
		if i > 0 && slices.Compare(ids[i-1][:], ids[i][:]) >= 0 {
			t.Errorf("frame %s came after %s", f.ID, seen[i-1].ID)
		}
	}
	next, resumed := 0, false
	for i, f := range seen {
		if next < len(all) && all[next] == f {
			next++
			resumed = resumed || strings.Contains(f.Data, `"run_resumed"`)
			continue
		}
		if !f.Piece() || next >= len(all) || !laterAttempt(all[next], ids[i]) {
			t.Errorf("the client saw %s %s %.200s; a reader from the start sees %s", f.ID, f.Event, f.Data,
				at(all, next))
			return void
		}
		void++
	}
	if next != len(all) {
		t.Errorf("the client did not see %s", at(all, next))
	}
	if void > 0 && !resumed {
		t.Errorf("%d pieces were void, and nothing said so", void)
	}
	return void
}

func laterAttempt(f Frame, than [3]int64) bool {
	id, err := number(f.ID)
	return err == nil && id[0] > than[0]
}

func at(all []Frame, i int) string {
	if i >= len(all) {
		return "nothing more"
	}
	return fmt.Sprintf("%s %s %.200s", all[i].ID, all[i].Event, all[i].Data)
}
