package openai

import (
	"bytes"
	"strings"

	"github.com/pudu-ai/pudu/model"
)

// Servers that were started without the parser of their model leave its markup in the text. prose finds it there.
//
//   - Reasoning inside <think> and </think> counts only at the very start of the text, before which nothing but space
//     stands.
//   - Calls are looked for only where the request offers tools. Markup made of words must begin a line, no markup
//     counts inside a fenced block of code, and what follows a marker must look like a call at once. So a text about
//     calls stays a text, but for an example that stands on a line of its own.
//   - What may be the beginning of markup waits for more; all other text goes out at once. How the text is cut into
//     pieces makes no difference.
//   - Nothing is lost but space around markup. A call that is broken, or that the end of the answer cuts off, goes out
//     with what it has if its name can be read: the agent then tells the model what is wrong with it. Otherwise it is
//     text.
type prose struct {
	open, close string // of reasoning; empty after the place where it can stand
	calls       bool
	tools       []model.Tool
	done        bool // only plain text follows
	count       int  // of calls found

	state    proseState
	held     []byte // not judged yet
	before   string // the space before what may be a call
	format   *format
	searched int // so far the end of the call was looked for in held
	wrong    int // how often something looked like a call or its end and was none

	// Where the text that went out stands.
	fresh  bool // nothing but space since the start or the last call
	blank  bool // nothing but space since the start of the line
	ticks  int  // backticks at the start of the line
	fenced bool
}

type proseState int

const (
	atStart proseState = iota
	inReasoning
	afterReasoning
	inText
	inCall
)

// maxCall bounds a call in the text, in bytes, and maxWrong how often an answer may be misleading. Beyond, all is text.
const (
	maxCall  = 4 << 20
	maxWrong = 64
)

// found is what a piece of text turned out to be.
type found struct {
	reasoning, text string
	calls           []textCall
}

// textCall is a call that stood in the text; args need not be valid.
type textCall struct{ id, name, args string }

// newProse returns a reader for answers to req, or nil if the dialect keeps its text clean.
func newProse(d *dialect, req *model.Request) *prose {
	p := &prose{calls: d.textCalls && len(req.Tools) > 0 && !req.Settings.NoTools, fresh: true, blank: true}
	if d.tag == "" && !p.calls {
		return nil
	}
	if d.tag != "" {
		p.open, p.close = "<"+d.tag+">", "</"+d.tag+">"
	}
	if p.calls {
		p.tools = req.Tools
	}
	return p
}

// noTag says that the server takes reasoning out of the text itself.
func (p *prose) noTag() {
	if p.state == atStart {
		p.open = ""
	}
}

// read takes the next piece of the text.
func (p *prose) read(piece string) (f found) {
	if p.state == inText && len(p.held) == 0 && (!p.calls || !p.fresh && !strings.ContainsAny(piece, "<[\n`")) {
		if p.calls {
			p.passAll(piece)
		}
		f.text = piece
		return f
	}
	p.held = append(p.held, piece...)
	for p.step(&f, false) {
	}
	return f
}

// finish takes the end of the text.
func (p *prose) finish() (f found) {
	for p.step(&f, true) {
	}
	p.done = true
	return f
}

// cut is what was held back of a text that broke off.
func (p *prose) cut() string {
	text := p.before + string(p.held)
	p.held, p.before, p.done = nil, "", true
	return text
}

// step judges what is held, and reports whether more of it can be judged. With last nothing more will come.
func (p *prose) step(f *found, last bool) bool {
	switch p.state {
	case atStart:
		return p.start(last)
	case inReasoning:
		return p.reason(f, last)
	case afterReasoning:
		if p.skipSpace(); len(p.held) > 0 {
			p.state = inText
		}
		return len(p.held) > 0
	case inCall:
		return p.call(f, last)
	default:
		return p.plain(f, last)
	}
}

func (p *prose) start(last bool) bool {
	rest := bytes.TrimLeft(p.held, space)
	switch {
	case p.open == "":
	case bytes.HasPrefix(rest, []byte(p.open)):
		p.drop(len(p.held) - len(rest) + len(p.open))
		p.skipSpace()
		p.state = inReasoning
		return true
	case !last && strings.HasPrefix(p.open, string(rest)):
		return false
	}
	p.state = inText
	return true
}

// reason passes reasoning on up to its end. Space at both ends is dropped.
func (p *prose) reason(f *found, last bool) bool {
	if p.fresh {
		p.skipSpace()
		p.fresh = len(p.held) == 0
	}
	if i := bytes.Index(p.held, []byte(p.close)); i >= 0 {
		f.reasoning += strings.TrimRight(string(p.held[:i]), space)
		p.drop(i + len(p.close))
		p.state, p.fresh = afterReasoning, true
		return true
	}
	n := len(p.held)
	if !last {
		n = len(bytes.TrimRight(p.held[:n-overlap(p.held, p.close)], space))
	}
	f.reasoning += string(p.held[:n])
	p.drop(n)
	return false
}

// plain passes text on up to a marker.
func (p *prose) plain(f *found, last bool) bool {
	if !p.calls {
		f.text += string(p.held)
		p.held = p.held[:0]
		return false
	}
	for i, c := range p.held {
		if rest := p.held[i:]; !p.fenced && (c == '<' || c == '[') {
			format, more := findFormat(rest, p.blank && p.ticks == 0)
			if format != nil {
				n := p.spaceBefore(i)
				p.before = string(p.held[n:i])
				p.pass(f, n)
				p.drop(i - n)
				p.state, p.format, p.searched = inCall, format, len(format.open)
				return true
			}
			if more && !last {
				return p.pass(f, p.spaceBefore(i))
			}
		}
		if !last && isSpace(c) && (c == '\n' || i == 0 && p.fresh) && len(bytes.TrimLeft(p.held[i:], space)) == 0 {
			return p.pass(f, i)
		}
		p.advance(c)
	}
	if last && p.count > 0 && p.fresh && len(bytes.TrimLeft(p.held, space)) == 0 {
		p.held = p.held[:0]
	}
	return p.pass(f, len(p.held))
}

// pass lets n bytes of text out.
func (p *prose) pass(f *found, n int) bool {
	if len(bytes.TrimLeft(p.held[:n], space)) > 0 {
		p.fresh = false
	}
	f.text += string(p.held[:n])
	p.drop(n)
	return false
}

// spaceBefore is where the space before i begins: with a line's end, or with the text.
func (p *prose) spaceBefore(i int) int {
	from := len(bytes.TrimRight(p.held[:i], space))
	if from == 0 && p.fresh {
		return 0
	}
	if n := bytes.IndexByte(p.held[from:i], '\n'); n >= 0 {
		return from + n
	}
	return i
}

// advance notes where the text stands after c.
func (p *prose) advance(c byte) {
	switch {
	case c == '\n':
		p.blank, p.ticks = true, 0
	case c == '`' && p.blank:
		if p.ticks++; p.ticks == len("```") {
			p.fenced, p.blank, p.ticks = !p.fenced, false, 0
		}
	case p.ticks > 0 || !isSpace(c):
		p.blank, p.ticks = false, 0
	}
}

// passAll does the same for a piece without anything special in it.
func (p *prose) passAll(piece string) {
	if p.ticks > 0 || p.blank && strings.TrimLeft(piece, space) != "" {
		p.blank, p.ticks = false, 0
	}
}

// call waits for the end of a call and reads it.
func (p *prose) call(f *found, last bool) bool {
	open, end := len(p.format.open), []byte(p.format.close)
	if len(p.held) > open && !p.format.begins(p.held[open:]) {
		return p.noCall(f)
	}
	limit := min(len(p.held), open+maxCall)
	for len(end) > 0 {
		i := bytes.Index(p.held[p.searched:limit], end)
		if i < 0 {
			break
		}
		at := p.searched + i
		calls, verdict := p.format.read(string(p.held[open:at]), p.tools, false)
		if verdict == complete {
			return p.calling(f, calls, at+len(end))
		}
		if p.mislead(); verdict == broken || !p.calls {
			return p.noCall(f)
		}
		p.searched = at + 1
	}
	p.searched = max(p.searched, limit-len(end)+1)
	if limit < open+maxCall && !last {
		return false
	}
	if limit < open+maxCall {
		if calls, verdict := p.format.read(string(p.held[open:]), p.tools, true); verdict == complete {
			return p.calling(f, calls, len(p.held))
		}
	}
	p.mislead()
	return p.noCall(f)
}

func (p *prose) mislead() {
	if p.wrong++; p.wrong > maxWrong {
		p.calls = false
	}
}

// calling takes calls that n bytes held.
func (p *prose) calling(f *found, calls []textCall, n int) bool {
	f.calls = append(f.calls, calls...)
	p.count += len(calls)
	p.drop(n)
	p.state, p.before, p.fresh, p.blank, p.ticks = inText, "", true, true, 0
	return true
}

// noCall makes text of what began like a call.
func (p *prose) noCall(f *found) bool {
	f.text += p.before
	p.advance(p.held[0])
	p.state, p.before = inText, ""
	p.pass(f, 1)
	return true
}

func (p *prose) drop(n int) {
	if n == len(p.held) {
		p.held = p.held[:0]
		return
	}
	p.held = p.held[n:]
}

func (p *prose) skipSpace() { p.drop(len(p.held) - len(bytes.TrimLeft(p.held, space))) }

const space = " \t\r\n"

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// overlap is how much of the end of b may be the start of marker.
func overlap(b []byte, marker string) int {
	for n := min(len(b), len(marker)-1); n > 0; n-- {
		if string(b[len(b)-n:]) == marker[:n] {
			return n
		}
	}
	return 0
}
