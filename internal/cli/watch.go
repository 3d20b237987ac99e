package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/excerpt"
	"github.com/pudu-ai/pudu/internal/inert"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

// watcher shows a run while it happens: reasoning dimmed, the answer as it streams, one line per tool call, and on a
// terminal a progress line for what runs now.
//
// When standard output is a terminal the answer streams to it, rendered block by block. Otherwise nothing is written
// there until the run has ended: then the answer, whole, as Markdown.
type watcher struct {
	io    IO
	json  bool
	look  style
	width int

	mu       sync.Mutex
	started  time.Time
	section  string // what the last bytes on the terminal were: "", "reasoning", "text", "tools"
	text     blocks
	message  string // id of the message whose text is shown
	streamed bool   // some text of it was shown
	calls    map[string]event.ToolStart
	running  []string // call ids under way, in order
	since    map[string]time.Time
	progress map[string]string
	drawn    bool // a progress line is on the screen
	models   int
	ticker   *time.Ticker
	stop     chan struct{}
	stopped  sync.WaitGroup
}

func newWatcher(stdio IO, asJSON bool) *watcher {
	w := &watcher{
		io: stdio, json: asJSON, look: stdio.errStyle(), width: stdio.Width, started: time.Now(),
		calls: make(map[string]event.ToolStart), since: make(map[string]time.Time), progress: make(map[string]string),
		stop: make(chan struct{}),
	}
	if w.width <= 0 {
		w.width = 100
	}
	if stdio.ErrTTY && !stdio.Plain && !asJSON {
		w.ticker = time.NewTicker(200 * time.Millisecond)
		w.stopped.Go(w.animate)
	}
	return w
}

// show takes one event.
func (w *watcher) show(ev event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.json {
		w.printJSON(ev)
		return
	}
	switch d := ev.Data.(type) {
	case event.Chunk:
		w.chunk(d)
	case event.Message:
		w.models++
		w.endText()
	case event.Discard:
		w.discard(d)
	case event.ToolStart:
		w.start(d)
	case event.Progress:
		w.progress[d.CallID] = inert.Line(d.Text)
	case event.ToolEnd:
		w.end(d)
	case event.Custom:
		w.custom(d)
	}
}

// printJSON prints an event as one line.
func (w *watcher) printJSON(ev event.Event) {
	var line bytes.Buffer // values may be stored with line breaks
	if raw, err := ev.AppendJSON(nil); err == nil && json.Compact(&line, raw) == nil {
		fmt.Fprintf(w.io.Out, "%s\n", line.Bytes())
	}
}

func (w *watcher) chunk(c event.Chunk) {
	if c.MessageID != w.message {
		w.endText()
		w.message = c.MessageID
	}
	if c.Reasoning != "" {
		w.clear()
		w.enter("reasoning")
		fmt.Fprint(w.io.Err, w.look.dim(inert.Text(c.Reasoning)))
	}
	if c.Text == "" {
		return
	}
	w.streamed = true
	for _, b := range w.text.add(inert.Text(c.Text)) {
		w.printBlock(b)
	}
}

// printBlock shows a block of the answer on the terminal.
func (w *watcher) printBlock(b string) {
	if !w.io.OutTTY {
		return
	}
	w.clear()
	if w.section == "tools" {
		fmt.Fprintln(w.io.Out)
	}
	w.enter("text")
	fmt.Fprint(w.io.Out, markdown(b, w.width, w.io.Plain))
}

// enter begins a section on a line of its own.
func (w *watcher) enter(section string) {
	if w.section == "reasoning" && section != "reasoning" {
		fmt.Fprintln(w.io.Err)
	}
	w.section = section
}

func (w *watcher) endText() {
	if rest := w.text.rest(); strings.TrimSpace(rest) != "" {
		w.printBlock(rest)
	}
	if w.section == "reasoning" {
		w.enter("")
	}
}

func (w *watcher) discard(d event.Discard) {
	w.text.rest()
	w.clear()
	w.enter("")
	if w.streamed && w.io.OutTTY {
		fmt.Fprintln(w.io.Err, w.look.dim("(the text above is withdrawn: "+inert.Line(d.Reason)+")"))
	}
	w.streamed = false
}

func (w *watcher) start(d event.ToolStart) {
	w.endText()
	w.calls[d.CallID], w.since[d.CallID] = d, time.Now()
	w.running = append(w.running, d.CallID)
	w.draw()
}

func (w *watcher) end(d event.ToolEnd) {
	w.endText()
	w.clear()
	what := d.Tool
	if start, ok := w.calls[d.CallID]; ok {
		what = callLine(start)
	}
	for i, id := range w.running {
		if id == d.CallID {
			w.running = append(w.running[:i], w.running[i+1:]...)
			break
		}
	}
	mark := w.look.good()
	if d.IsError {
		mark = w.look.bad()
	}
	took := ""
	if d.Millis > 0 {
		took = duration(time.Duration(d.Millis) * time.Millisecond)
	}
	room := max(w.width*2/5, 24)
	rest := max(w.width-room-14, 20)
	w.enter("tools")
	fmt.Fprintf(w.io.Err, "%s %-*s %7s  %s\n", mark, room, excerpt.Clip(what, room), took, w.look.dim(excerpt.Clip(inert.Line(d.Summary), rest)))
	w.draw()
}

// custom shows what it knows: the announcements of a retry, of another model, and of a wait for a place.
func (w *watcher) custom(c event.Custom) {
	var v struct {
		Type        string `json:"type"`
		Attempt     int    `json:"attempt"`
		MaxAttempts int    `json:"max_attempts"`
		WaitMS      int64  `json:"wait_ms"`
		Reason      string `json:"reason"`
		Message     string `json:"message"`
	}
	if json.Unmarshal(c.Value, &v) != nil {
		return
	}
	switch v.Type {
	case "llm_retry":
		w.line(fmt.Sprintf("… model: %s; next try in %s (%d of %d)", inert.Line(v.Reason),
			duration(time.Duration(v.WaitMS)*time.Millisecond), v.Attempt+1, v.MaxAttempts))
	case "llm_fallback", "llm_queued":
		w.line("… model: " + inert.Line(v.Message))
	}
}

// note shows a line from outside the run.
func (w *watcher) note(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line(s)
}

func (w *watcher) line(s string) {
	w.clear()
	w.enter("")
	fmt.Fprintln(w.io.Err, w.look.yellow(s))
}

// callLine is a tool call in a few words: the tool and what it is about.
func callLine(s event.ToolStart) string {
	var args map[string]json.RawMessage
	_ = json.Unmarshal(s.Args, &args) // a call without readable arguments shows its name alone
	for _, key := range []string{"command", "path", "pattern", "filepaths", "image_path", "query", "url", "question", "description"} {
		raw, ok := args[key]
		if !ok {
			continue
		}
		var text string
		var list []string
		if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &list) == nil {
			text = strings.Join(list, ", ")
		}
		return s.Tool + " " + shortPaths.Replace(inert.Line(text))
	}
	return s.Tool
}

// shortPaths leaves out what the paths of a thread have in common.
var shortPaths = strings.NewReplacer(sandbox.Outputs+"/", "", sandbox.UserData+"/", "")

// animate redraws the progress line.
func (w *watcher) animate() {
	for {
		select {
		case <-w.ticker.C:
			w.mu.Lock()
			if w.drawn || len(w.running) > 0 {
				w.draw()
			}
			w.mu.Unlock()
		case <-w.stop:
			return
		}
	}
}

// draw writes the progress line of the call that runs longest.
func (w *watcher) draw() {
	if w.ticker == nil || len(w.running) == 0 {
		return
	}
	id := w.running[0]
	more := ""
	if n := len(w.running) - 1; n > 0 {
		more = fmt.Sprintf(" (+%d)", n)
	}
	line := fmt.Sprintf("· %s%s  %s  %s", excerpt.Clip(callLine(w.calls[id]), w.width*2/5), more, duration(time.Since(w.since[id])), w.progress[id])
	w.clear()
	fmt.Fprint(w.io.Err, w.look.dim(excerpt.Clip(line, w.width-1)))
	w.drawn = true
}

func (w *watcher) clear() {
	if w.drawn {
		fmt.Fprint(w.io.Err, "\r\x1b[K")
		w.drawn = false
	}
}

// close shows the end of the run: the answer where it did not stream, and what the run took.
func (w *watcher) close(out runs.Outcome) {
	if w.ticker != nil {
		w.ticker.Stop()
		close(w.stop)
		w.stopped.Wait()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.endText()
	w.clear()
	if w.json {
		return
	}
	answer, ok := answerOf(out.State)
	if failed := out.Run.Error != "" && answer.Text() == out.Run.Error; failed {
		return // what stands in for the answer is the error, which is told as such
	}
	if ok && (!w.io.OutTTY || answer.ID != w.message || !w.streamed) {
		text := inert.Text(answer.Text())
		if w.io.OutTTY {
			text = markdown(text, w.width, w.io.Plain)
		}
		fmt.Fprintln(w.io.Out, strings.TrimRight(text, "\n"))
	}
}

// summary is what the run took.
func (w *watcher) summary(out runs.Outcome) string {
	return fmt.Sprintf("%d model calls · %s tokens · %s", w.models, tokens(out.Usage.TotalTokens), duration(time.Since(w.started)))
}

// answerOf returns the last thing the agent said.
func answerOf(s state.State) (message.Message, bool) {
	msgs := agent.Messages.Get(s)
	for _, m := range slices.Backward(msgs) {
		if m.Role == message.AI {
			return m, strings.TrimSpace(m.Text()) != ""
		}
	}
	return message.Message{}, false
}
