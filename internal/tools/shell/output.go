package shell

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/inert"
	"github.com/pudu-ai/pudu/sandbox"
)

// output gathers what a command prints: of each stream the start and the end for the model, and both in the order in
// which they came in a file, once there is more than the model will see. After finish it is only the file that grows,
// by what background processes print.
type output struct {
	files   *sandbox.Files
	name    string // of the file, without its ending
	maxLog  int64
	spillAt int

	mu       sync.Mutex
	streams  [2]stream
	last     string // the last line that says something
	early    []byte // both streams, until the file exists
	log      *sandbox.File
	path     string // of the file; "" as long as there is none
	logged   int64
	broken   bool // the file cannot be written, or is full
	finished bool
}

func newOutput(files *sandbox.Files, maxChars int, maxLog int64, name string) *output {
	const notes = 100 // what the result adds to the output before it is cut
	o := &output{files: files, name: name, maxLog: maxLog, spillAt: maxChars - notes}
	for i := range o.streams {
		o.streams[i].limit = maxChars
	}
	return o
}

// writer is one stream of the command.
type writer struct {
	o *output
	n int
}

func (o *output) stdout() io.Writer { return writer{o, 0} }
func (o *output) stderr() io.Writer { return writer{o, 1} }

// Write never fails: a command must not be disturbed by a full log.
func (w writer) Write(b []byte) (int, error) {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	w.o.add(w.n, w.o.streams[w.n].clean(b, w.o.finished))
	return len(b), nil
}

func (o *output) add(n int, text string) {
	if text == "" {
		return
	}
	if !o.finished {
		o.streams[n].keep(text)
		o.last = cmp.Or(lastLine(text), o.last)
	}
	o.record(text)
}

// record puts text into the file, or aside as long as the model sees all of it.
func (o *output) record(text string) {
	if o.path == "" && !o.broken && !o.finished {
		if o.early = append(o.early, text...); len(o.early) <= o.spillAt {
			return
		}
		o.openLog()
		return
	}
	o.writeLog([]byte(text))
}

// openLog makes the file and moves into it what was put aside.
func (o *output) openLog() {
	for i := range 100 {
		path := o.name + ".log"
		if i > 0 {
			path = fmt.Sprintf("%s-%d.log", o.name, i+1)
		}
		h, err := o.files.Create(path)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			o.log, o.path = h, path
		}
		break
	}
	o.broken = o.path == ""
	early := o.early
	o.early = nil
	o.writeLog(early)
}

// writeLog appends. Nobody tells when the last background process is gone, so that after finish the file is opened for
// each piece.
func (o *output) writeLog(b []byte) {
	if o.broken || o.path == "" || len(b) == 0 {
		return
	}
	h := o.log
	if h == nil {
		var err error
		if h, err = o.files.Append(o.path); err != nil {
			o.broken = true
			return
		}
		defer h.Close()
	}
	if room := o.maxLog - o.logged; int64(len(b)) > room {
		b, o.broken = b[:max(room, 0)], true
	}
	n, err := h.Write(b)
	o.logged += int64(n)
	o.broken = o.broken || err != nil
}

// finish ends the gathering and returns it. background says that more may come, which then has a file to go to.
func (o *output) finish(background bool) captured {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.streams {
		if rest := o.streams[i].rest(); rest != "" {
			o.add(i, rest)
		}
	}
	if background && o.path == "" {
		o.openLog()
	}
	if o.log != nil {
		_ = o.log.Close()
		o.log = nil
	}
	got := captured{streams: o.streams, log: o.path, full: !o.broken}
	o.finished, o.early, o.streams = true, nil, [2]stream{}
	return got
}

// lastLine is what the command printed last, on one line.
func (o *output) lastLine() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// lastLine returns the last line of text that says something, fit to show.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return clip(inert.Line(text[strings.LastIndexByte(text, '\n')+1:]), 200)
}

// stream is one stream: its start and its end, limit characters each, and how many there were.
type stream struct {
	limit   int
	pending []byte // an unfinished line
	head    strings.Builder
	inHead  int // characters
	tail    []byte
	total   int
}

// clean takes raw output and returns what can be shown of it: whole lines, so that no escape sequence is cut in two, or
// with now everything. Carriage returns end a line, which is about what they do to a progress bar.
func (s *stream) clean(b []byte, now bool) string {
	const longest = 64 << 10
	s.pending = append(s.pending, b...)
	cut := len(s.pending)
	if !now {
		cut = bytes.LastIndexAny(s.pending[:max(cut-1, 0)], "\r\n") + 1 // behind a last \r there may come a \n
		if n := len(s.pending); n > 0 && s.pending[n-1] == '\n' {
			cut = n
		}
	}
	if cut == 0 && len(s.pending) > longest {
		cut = len(s.pending)
	}
	cut = wholeRunes(s.pending, cut)
	text := lineFeeds(string(s.pending[:cut]))
	s.pending = append(s.pending[:0], s.pending[cut:]...)
	return inert.Text(text)
}

// wholeRunes returns the length of the part of b[:n] that does not end inside of a character.
func wholeRunes(b []byte, n int) int {
	for k := 1; k < utf8.UTFMax && k <= n; k++ {
		if utf8.RuneStart(b[n-k]) {
			if !utf8.FullRune(b[n-k : n]) {
				return n - k
			}
			break
		}
	}
	return n
}

func lineFeeds(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// rest returns the unfinished line.
func (s *stream) rest() string {
	text := inert.Text(lineFeeds(string(s.pending)))
	s.pending = nil
	return text
}

func (s *stream) keep(text string) {
	n := utf8.RuneCountInString(text)
	s.total += n
	if room := s.limit - s.inHead; room > 0 {
		part := firstRunes(text, room)
		s.head.WriteString(part)
		s.inHead += min(n, room)
		text = text[len(part):]
	}
	s.tail = append(s.tail, text...)
	if most := s.limit * utf8.UTFMax; len(s.tail) > 2*most {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-most:]...)
	}
}
