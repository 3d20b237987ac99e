package shell

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/lib/redact"
	"github.com/pudu-ai/pudu/sandbox"
)

// logAfter is how long output may be without a copy in the file. A command that ends sooner makes no file.
const logAfter = 10 * time.Millisecond

// output gathers what a command prints: of each stream the start and the end for the model, and both in the order in
// which they came in a file, so that it is there if this process is killed. The file is made once there is output older
// than logAfter, or more than the model will see. After finish it is only the file that grows, by what background
// processes print.
type output struct {
	files   *sandbox.Files
	name    string // of the file, without its ending
	maxLog  int64
	spillAt int

	mu       sync.Mutex
	secrets  [2]*redact.Stream
	streams  [2]stream
	last     string // the last line that says something
	early    []byte // both streams, until the file exists
	log      *sandbox.File
	path     string // of the file; "" as long as there is none
	logged   int64
	broken   bool // the file cannot be written, or is full
	finished bool
	timer    *time.Timer // calls settle; nil until something was printed
	armed    bool        // it runs
}

func newOutput(files *sandbox.Files, maxChars int, maxLog int64, name string) *output {
	const notes = 100 // what the result adds to the output before it is cut
	o := &output{files: files, name: name, maxLog: maxLog, spillAt: maxChars - notes}
	for i := range o.streams {
		o.streams[i].limit = maxChars
	}
	return o
}

// redact takes secrets out of both streams, before anything else sees them.
func (o *output) redact(r redact.Redactor) { o.secrets = [2]*redact.Stream{r.Stream(), r.Stream()} }

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
	n := len(b)
	if s := w.o.secrets[w.n]; s != nil {
		b = s.Next(b)
	}
	w.o.add(w.n, w.o.streams[w.n].clean(b, w.o.finished))
	w.o.arm()
	return n, nil
}

// arm makes sure that what is not in the file gets there in time.
func (o *output) arm() {
	waits := len(o.early) > 0 || len(o.streams[0].pending) > 0 || len(o.streams[1].pending) > 0
	switch {
	case o.finished || o.armed || !waits:
		return
	case o.timer == nil:
		o.timer = time.AfterFunc(logAfter, o.settle)
	default:
		o.timer.Reset(logAfter)
	}
	o.armed = true
}

// settle brings into the file what was printed so far, the beginning of a line included.
func (o *output) settle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.armed = false
	if o.finished {
		return
	}
	for i := range o.streams {
		o.add(i, o.streams[i].begun())
	}
	if o.path == "" && len(o.early) > 0 {
		o.openLog()
	}
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
	for n := 1; n <= maxLogs && o.path == ""; n++ {
		path := numbered(o.name, n)
		h, err := o.create(path)
		if err == nil {
			o.log, o.path = h, path
		} else if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	o.broken = o.path == ""
	early := o.early
	o.early = nil
	o.writeLog(early)
}

// create makes the file. A call beside this one may remove the folder, as the last that had a file in it, right before.
func (o *output) create(path string) (h *sandbox.File, err error) {
	err = fs.ErrNotExist
	for n := 0; n < maxLogs && errors.Is(err, fs.ErrNotExist); n++ {
		h, err = o.files.Create(path)
	}
	return h, err
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
		if o.secrets[i] != nil {
			o.add(i, o.streams[i].clean(o.secrets[i].Rest(), false))
		}
		if rest := o.streams[i].rest(); rest != "" {
			o.add(i, rest)
		}
	}
	if background && o.path == "" {
		o.openLog()
	}
	if o.timer != nil {
		o.timer.Stop()
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
	return excerpt.Clip(inert.Line(text[strings.LastIndexByte(text, '\n')+1:]), 200)
}
