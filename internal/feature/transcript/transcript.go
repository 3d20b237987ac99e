// Package transcript writes the conversation of a thread as a file for people: Markdown, one page of HTML, or JSON. It
// gets the messages one after the other, the oldest first, and keeps none: what it holds is one message and the calls
// that it asked for.
//
//	history -> Write -> markdown.go, page.go, json.go -> GET /threads/ID/export, pudu threads export
//
// Nothing in a message acts in the file. The page has no scripts, loads nothing, and shows HTML that a message has as
// text.
package transcript

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
)

// Format is what a transcript is written as.
type Format string

// The formats.
const (
	Markdown Format = "md"
	JSON     Format = "json"
	HTML     Format = "html"
)

// Formats are all of them.
func Formats() []string { return []string{string(Markdown), string(JSON), string(HTML)} }

// Parse finds a format by its name.
func Parse(name string) (Format, error) {
	if !slices.Contains(Formats(), name) {
		return "", fmt.Errorf("a conversation is written as %s, not as %.40q", strings.Join(Formats(), ", "), name)
	}
	return Format(name), nil
}

// Media is the type of the file.
func (f Format) Media() string {
	switch f {
	case HTML:
		return "text/html; charset=utf-8"
	case JSON:
		return "application/json"
	case Markdown:
	}
	return "text/markdown; charset=utf-8"
}

// About is what a transcript says of its thread.
type About struct {
	ID, Title        string
	Created, Changed time.Time
	// Written is when the transcript was made.
	Written time.Time
}

// Message is a message as the log has it.
type Message struct {
	Raw   json.RawMessage
	RunID string
	At    time.Time
}

// writer is a format at work.
type writer interface {
	begin(about About) error
	add(m Message) error
	end() error
}

// Write writes the transcript of the messages. Before the first message is there nothing is written; what was written
// before an error is no whole transcript.
func Write(w io.Writer, f Format, about About, messages iter.Seq2[Message, error]) error {
	out := bufio.NewWriterSize(w, 32<<10)
	to := newWriter(out, f)
	begun := false
	for m, err := range messages {
		if err == nil && !begun {
			begun, err = true, to.begin(about)
		}
		if err == nil {
			err = to.add(m)
		}
		if err != nil {
			return err
		}
	}
	if !begun {
		if err := to.begin(about); err != nil {
			return err
		}
	}
	if err := to.end(); err != nil {
		return err
	}
	return out.Flush()
}

func newWriter(out *bufio.Writer, f Format) writer {
	switch f {
	case JSON:
		return &object{out: out}
	case HTML:
		return &reader{shown: page{out}}
	case Markdown:
	}
	return &reader{shown: text{out}}
}
