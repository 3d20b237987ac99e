package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/pudu-ai/pudu/model"
)

const (
	// MaxEvent bounds the data of one server-sent event, in bytes: that is four of the largest answers, for what JSON
	// adds and for what is not taken over, such as an image. There is no bound on a line besides.
	MaxEvent = 4 * model.MaxAnswer
	// maxValues bounds the JSON values of one event: each takes many times its bytes when it is read.
	maxValues = 64 << 10
)

// sourceSize is how much is read at once.
const sourceSize = 32 << 10

// ErrEventTooLong says that an event is larger than [MaxEvent].
var ErrEventTooLong = fmt.Errorf("%w: more than %d bytes in one event", model.ErrTooLarge, MaxEvent)

// Event is one server-sent event. Ids and retry times are dropped: no model API resumes a stream.
type Event struct {
	// Name is the event's type; empty when the stream gives none.
	Name string
	// Data is the joined data lines, valid until the next call of Next. Empty if the event had none.
	Data []byte
}

// EventReader splits a stream into events. Lines end with LF, CR or CRLF.
type EventReader struct {
	src    *bufio.Reader
	long   []byte // a line that spans buffers
	data   []byte
	limit  int
	skipLF bool // the last line ended with CR: an LF right after it belongs to it
	begun  bool
	err    error
}

// Next returns the next event that has a name or data; io.EOF ends the stream. An event that the end of the stream
// cuts off without its blank line is still returned, since several servers forget that line; an event cut off by a
// read error is not.
func (r *EventReader) Next() (Event, error) {
	var ev Event
	r.resetData()
	hasData := false
	for {
		line, err := r.line()
		if err != nil && (err != io.EOF || len(line) == 0) {
			return r.last(ev, hasData, err)
		}
		if len(line) == 0 {
			if !hasData && ev.Name == "" {
				continue
			}
			ev.Data = r.data
			return ev, nil
		}
		field, value := splitField(line)
		switch string(field) {
		case "event":
			ev.Name = string(value)
		case "data":
			if hasData {
				r.data = append(r.data, '\n')
			}
			r.data = append(r.data, value...)
			hasData = true
		}
		if len(r.data) > r.limit {
			r.err = ErrEventTooLong
			return Event{}, r.err
		}
	}
}

// Ready reports whether the next event is here in full, so that Next does not wait. It may miss one, never the reverse.
func (r *EventReader) Ready() bool {
	buf, _ := r.src.Peek(r.src.Buffered())
	return bytes.Contains(buf, []byte("\n\n")) || bytes.Contains(buf, []byte("\r\n\r\n"))
}

// last is the end of the stream: a whole event that only misses its blank line, or the error.
func (r *EventReader) last(ev Event, hasData bool, err error) (Event, error) {
	if err == io.EOF && (hasData || ev.Name != "") {
		ev.Data = r.data
		return ev, nil
	}
	return Event{}, err
}

// resetData empties the buffer and lets go of one that a huge event has grown.
func (r *EventReader) resetData() {
	if cap(r.data) > 1<<20 {
		r.data = nil
	}
	r.data = r.data[:0]
}

// splitField cuts "name: value"; one space after the colon is not part of the value. A comment has an empty name.
func splitField(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return name, value
}

// line returns the next line without its end, valid until the next call. At the end of the stream it returns what is
// left together with io.EOF.
func (r *EventReader) line() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	if cap(r.long) > 1<<20 {
		r.long = nil
	}
	r.long = r.long[:0]
	for {
		buf, err := r.fill()
		if err != nil {
			r.err = err
			return r.long, err
		}
		end := lineEnd(buf)
		if end < 0 {
			r.long = append(r.long, buf...)
			r.src.Discard(len(buf))
			if len(r.long) > r.limit+len("data: ") {
				r.err = ErrEventTooLong
				return nil, r.err
			}
			continue
		}
		r.skipLF = buf[end] == '\r'
		r.src.Discard(end + 1)
		if len(r.long) == 0 {
			return buf[:end], nil // Discard leaves the bytes where they are until the next fill
		}
		r.long = append(r.long, buf[:end]...)
		return r.long, nil
	}
}

// fill returns what is buffered, at least one byte, without the byte-order mark of the stream and without the LF of
// a CRLF whose CR has ended a line already.
func (r *EventReader) fill() ([]byte, error) {
	for {
		if _, err := r.src.Peek(1); err != nil {
			return nil, err
		}
		buf, _ := r.src.Peek(r.src.Buffered())
		if r.skipLF {
			r.skipLF = false
			if buf[0] == '\n' {
				r.src.Discard(1)
				continue
			}
		}
		if !r.begun {
			r.begun = true
			if bom, _ := r.src.Peek(3); buf[0] == 0xEF && string(bom) == "\uFEFF" {
				r.src.Discard(3)
				continue
			}
		}
		return buf, nil
	}
}

// lineEnd is the place of the first CR or LF, or -1.
func lineEnd(buf []byte) int {
	lf := bytes.IndexByte(buf, '\n')
	if lf >= 0 {
		buf = buf[:lf]
	}
	if cr := bytes.IndexByte(buf, '\r'); cr >= 0 {
		return cr
	}
	return lf
}
