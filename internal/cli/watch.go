package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	terminal "github.com/pudu-ai/pudu/internal/lib/markdown"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

// watcher shows a run while it happens: reasoning dimmed, the answer as it streams, one line per tool call, and on a
// terminal a progress line for what runs now, also for a model that says nothing.
//
// When standard output is a terminal the answer streams to it, rendered; its last block is drawn again as it grows.
// Otherwise nothing is written there until the run has ended: then the answer, whole, as Markdown.
type watcher struct {
	io    IO
	json  bool
	look  style
	width int

	mu       sync.Mutex
	started  time.Time
	section  string // what the last bytes on the terminal were: "", "reasoning", "text", "tools"
	text     blocks
	thoughts string // the last line of the reasoning, which is not complete
	message  string // id of the message whose text is shown
	streamed bool   // some text of it was shown
	printed  bool   // and cannot be taken back
	stale    bool   // what is drawn is not all that is known
	next     time.Time
	heard    time.Time // when the model last said something
	asked    time.Time // since when it is waited for
	calls    map[string]event.ToolStart
	running  []string // call ids under way, in order
	since    map[string]time.Time
	progress map[string]string
	screen   screen
	models   int
	ticker   *time.Ticker
	stop     chan struct{}
	stopped  sync.WaitGroup
}

func newWatcher(stdio IO, asJSON bool) *watcher {
	w := &watcher{
		io: stdio, json: asJSON, look: stdio.errStyle(), width: stdio.columns(), started: time.Now(),
		screen: screen{io: stdio}, calls: make(map[string]event.ToolStart), since: make(map[string]time.Time),
		progress: make(map[string]string), stop: make(chan struct{}),
	}
	w.asked, w.heard = w.started, w.started
	if (stdio.ErrTTY || stdio.OutTTY) && !stdio.Still && !asJSON {
		w.ticker = time.NewTicker(redraw)
		w.stopped.Go(w.animate)
	}
	return w
}

// redraw is how often what changes is drawn again.
const redraw = 100 * time.Millisecond

// show takes one event.
func (w *watcher) show(ev event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, answered := ev.Data.(event.Message); answered {
		w.models++
	}
	if w.json {
		w.printJSON(ev)
		return
	}
	switch d := ev.Data.(type) {
	case event.Chunk:
		if len(ev.Namespace) > 0 { // of a run below
			return
		}
		w.chunk(d)
	case event.Message:
		w.endText()
		w.wait()
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
		w.message, w.printed = c.MessageID, false
	}
	w.heard, w.stale = time.Now(), true
	if c.Reasoning != "" {
		w.reason(inert.Text(c.Reasoning))
	}
	if c.Text == "" {
		return
	}
	w.streamed = true
	for _, b := range w.text.add(inert.Text(c.Text)) {
		w.printBlock(b)
	}
}

// reason shows a piece of the model's reasoning.
func (w *watcher) reason(text string) {
	w.enter("reasoning")
	if w.ticker == nil || !w.io.ErrTTY {
		fmt.Fprint(w.io.Err, w.look.dim(text))
		return
	}
	w.thoughts += text
	for {
		line, rest, complete := strings.Cut(w.thoughts, "\n")
		if !complete {
			return
		}
		w.screen.draw(w.io.Err, w.dimmed(line))
		w.screen.keep()
		w.thoughts = rest
	}
}

func (w *watcher) dimmed(text string) []string {
	lines := terminal.Wrap(text, w.width-1)
	for i, line := range lines {
		lines[i] = w.look.dim(line)
	}
	return lines
}

// printBlock shows a block of the answer on the terminal, for good.
func (w *watcher) printBlock(b string) {
	if !w.io.OutTTY {
		return
	}
	w.enter("text")
	w.screen.draw(w.io.Out, w.rendered(b))
	w.screen.keep()
	w.printed = true
}

// rendered is a block as lines, with an empty one behind it.
func (w *watcher) rendered(block string) []string {
	return strings.Split(strings.TrimSuffix(markdown(block, w.width, w.io.Plain), "\n"), "\n")
}

// grow draws what has come of a block or a line that is not complete. What takes long to render is rendered less often:
// that takes a tenth of the time.
func (w *watcher) grow() {
	begin := time.Now()
	if !w.stale || begin.Before(w.next) {
		return
	}
	w.stale = false
	switch rest := w.text.pending.String(); {
	case strings.TrimSpace(rest) != "" && w.io.OutTTY:
		w.enter("text")
		w.screen.draw(w.io.Out, w.rendered(rest))
	case w.thoughts != "":
		w.screen.draw(w.io.Err, w.dimmed(w.thoughts))
	}
	w.next = begin.Add(10 * time.Since(begin))
}

// enter begins a section on a line of its own.
func (w *watcher) enter(section string) {
	w.screen.hush()
	if section == w.section {
		return
	}
	switch {
	case w.section == "reasoning" && (w.ticker == nil || !w.io.ErrTTY):
		fmt.Fprintln(w.io.Err)
	case w.section == "reasoning" && w.thoughts != "":
		w.screen.draw(w.io.Err, w.dimmed(w.thoughts))
	case w.section == "tools" && section == "text":
		fmt.Fprintln(w.io.Out)
	}
	w.screen.keep()
	w.thoughts, w.section = "", section
}

func (w *watcher) endText() {
	if rest := w.text.rest(); strings.TrimSpace(rest) != "" {
		w.printBlock(rest)
	}
	if w.section == "reasoning" {
		w.enter("")
	}
}

// wait begins to wait for the model, or for whatever comes next.
func (w *watcher) wait() {
	w.asked = time.Now()
	w.heard = w.asked
}

func (w *watcher) discard(d event.Discard) {
	w.text.rest()
	if w.section == "text" {
		w.screen.draw(w.io.Out, nil) // what can be taken back
	}
	w.enter("")
	if w.printed && w.io.OutTTY {
		fmt.Fprintln(w.io.Err, w.look.dim("(the text above is withdrawn: "+inert.Line(d.Reason)+")"))
	}
	w.streamed, w.printed = false, false
	w.wait()
}

func (w *watcher) start(d event.ToolStart) {
	w.endText()
	w.calls[d.CallID], w.since[d.CallID] = d, time.Now()
	w.running = append(w.running, d.CallID)
	w.draw()
}

func (w *watcher) end(d event.ToolEnd) {
	w.endText()
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
	rest := max(w.width-room-14, 12)
	w.enter("tools")
	fmt.Fprintf(w.io.Err, "%s %s %7s  %s\n", mark, fit(what, room), took, w.look.dim(clip(inert.Line(d.Summary), rest)))
	if len(w.running) == 0 {
		w.wait()
	}
	w.draw()
}

// custom shows what it knows: the announcements of a retry, of another model, of a wait for a place, and of secrets
// that are missing.
func (w *watcher) custom(c event.Custom) {
	var v struct {
		Type        string `json:"type"`
		Attempt     int    `json:"attempt"`
		MaxAttempts int    `json:"max_attempts"`
		WaitMS      int64  `json:"wait_ms"`
		Reason      string `json:"reason"`
		Detail      string `json:"detail"`
		Message     string `json:"message"`
	}
	if json.Unmarshal(c.Value, &v) != nil {
		return
	}
	switch v.Type {
	case "llm_retry":
		w.line(fmt.Sprintf("… model: %s; next try in %s (%d of %d)", inert.Line(cmp.Or(v.Detail, v.Reason)),
			duration(time.Duration(v.WaitMS)*time.Millisecond), v.Attempt+1, v.MaxAttempts))
	case "llm_fallback", "llm_queued":
		w.line("… model: " + inert.Line(v.Message))
	case "middleware:skill_secrets":
		if v.Message != "" {
			w.line("! " + inert.Line(v.Message))
		}
	}
}

// note shows a line from outside the run.
func (w *watcher) note(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line(s)
}

// typed takes in that a person has ended a line at the terminal: what is drawn cannot be drawn again.
func (w *watcher) typed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.screen.keep()
	w.screen.status = false
}

func (w *watcher) line(s string) {
	w.enter("")
	w.io.tell(w.look.yellow, s)
}

// callLine is a tool call in a few words: the tool and what it is about.
func callLine(s event.ToolStart) string {
	var args map[string]json.RawMessage
	_ = json.Unmarshal(s.Args, &args) // a call without readable arguments shows its name alone
	for _, key := range []string{"command", "path", "pattern", "filepaths", "image_path", "query", "url", "question",
		"description"} {
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
			w.grow()
			w.draw()
			w.mu.Unlock()
		case <-w.stop:
			return
		}
	}
}

// quiet is how long nothing has to happen before a line says what is waited for.
const quiet = time.Second

// draw writes the progress line: of the call that runs longest, or of the model if that is silent.
func (w *watcher) draw() {
	switch {
	case w.ticker == nil || !w.io.ErrTTY:
	case len(w.running) > 0:
		w.drawCall()
	case time.Since(w.heard) >= quiet:
		what := map[string]string{"reasoning": "the model thinks", "text": "the model writes"}[w.section]
		if w.heard.Equal(w.asked) {
			what = "waiting for the model"
		}
		w.screen.say("· " + what + "  " + duration(time.Since(w.asked)))
	}
}

func (w *watcher) drawCall() {
	id := w.running[0]
	more := ""
	if n := len(w.running) - 1; n > 0 {
		more = fmt.Sprintf(" (+%d)", n)
	}
	w.screen.say(fmt.Sprintf("· %s%s  %s  %s", clip(callLine(w.calls[id]), w.width*2/5), more,
		duration(time.Since(w.since[id])), w.progress[id]))
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
	w.screen.hush()
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
	return fmt.Sprintf("%s · %s tokens · %s", Count(w.models, "model call"), tokens(out.Usage.TotalTokens),
		duration(time.Since(w.started)))
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
