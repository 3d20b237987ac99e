package cli

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/testkit/buffertest"
)

// tty is a terminal: what was written to it, and the lines that it shows.
type tty struct{ buffertest.Buffer }

// shows plays what was written, as far as the watcher uses a terminal.
func (t *tty) shows() []string {
	lines, at := []string{""}, 0
	for rest := t.String(); rest != ""; {
		switch {
		case strings.HasPrefix(rest, "\x1b["):
			end := strings.IndexAny(rest, "AJKm")
			switch rest[end] {
			case 'A':
				n := 0
				for _, d := range rest[2:end] {
					n = n*10 + int(d-'0')
				}
				at -= n
			case 'J':
				lines = lines[:at+1]
				lines[at] = ""
			case 'K':
				lines[at] = ""
			}
			rest = rest[end+1:]
			continue
		case rest[0] == '\n':
			if at++; at == len(lines) {
				lines = append(lines, "")
			}
		case rest[0] != '\r':
			lines[at] += rest[:1]
		}
		rest = rest[1:]
	}
	return lines
}

func (t *tty) show() string { return strings.Join(t.shows(), "\n") }

// watched is a watcher at a terminal of 80 columns and 24 rows.
func watched() (*watcher, *tty) {
	screen := &tty{}
	return newWatcher(IO{Out: screen, Err: screen, OutTTY: true, ErrTTY: true, Plain: true, Width: 80, Height: 24},
		false), screen
}

func chunk(w *watcher, c event.Chunk) {
	c.MessageID = "m"
	w.show(event.Event{Data: c})
}

func TestTextAppearsWhileItStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, screen := watched()
		said := ""
		for word := range strings.FieldsSeq("This is **one paragraph that** goes on for so long that it takes more than a line of the terminal, and nothing in it ends before the end.") {
			said += word + " "
			chunk(w, event.Chunk{Text: word + " "})
			time.Sleep(2 * redraw)
			synctest.Wait()
			if got := strings.Join(strings.Fields(screen.show()), " "); got != strings.TrimSpace(said) {
				t.Fatalf("after %q it shows\n%s", word, screen.show())
			}
		}
		w.show(event.Event{Data: event.Message{MessageID: "m"}})
		w.close(runs.Outcome{})
		for _, line := range screen.shows() {
			if width(line) > 80 {
				t.Errorf("%d cells: %s", width(line), line)
			}
		}
		if n := strings.Count(screen.show(), "paragraph"); n != 1 {
			t.Errorf("it is there %d times:\n%s", n, screen.show())
		}
	})
}

func TestASilentModelIsWaitedForVisibly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, screen := watched()
		last := func() string { l := screen.shows(); return l[len(l)-1] }
		wants := func(want string) {
			t.Helper()
			synctest.Wait()
			if last() != want {
				t.Errorf("it shows %q, want %q", last(), want)
			}
		}
		time.Sleep(3*time.Second + redraw/2)
		wants("· waiting for the model  3.0 s")
		chunk(w, event.Chunk{Reasoning: "Let me see."})
		wants("")
		time.Sleep(14 * time.Second)
		wants("· the model thinks  17 s")
		chunk(w, event.Chunk{Text: "An answer"})
		time.Sleep(2 * time.Second)
		wants("· the model writes  19 s")
		w.show(event.Event{Data: event.Message{MessageID: "m"}})
		w.show(event.Event{Data: event.ToolStart{CallID: "c", Tool: "bash", Args: json.RawMessage(`{}`)}})
		w.show(event.Event{Data: event.ToolEnd{CallID: "c", Tool: "bash"}})
		time.Sleep(2*time.Second + redraw/2)
		wants("· waiting for the model  2.0 s")
		w.close(runs.Outcome{})
		wants("")
	})
}

func TestAWithdrawnTextIsTakenFromTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, screen := watched()
		chunk(w, event.Chunk{Text: "half an ans"})
		time.Sleep(2 * redraw)
		synctest.Wait()
		if !strings.Contains(screen.show(), "half an ans") {
			t.Errorf("%q", screen.show())
		}
		w.show(event.Event{Data: event.Discard{MessageID: "m", Reason: "cut"}})
		if strings.TrimSpace(screen.show()) != "" {
			t.Errorf("%q", screen.show())
		}
		w.close(runs.Outcome{})
	})
}

// TestLinesAreCountedInCells: an ideograph takes two.
func TestLinesAreCountedInCells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, screen := watched()
		name := strings.Repeat("月度收入报告", 12)
		chunk(w, event.Chunk{Reasoning: "用户想要" + strings.Repeat("一个很长的中文回答，", 12) +
			" and some words in English to the very end of it"})
		w.show(event.Event{Data: event.ToolStart{CallID: "c", Tool: "bash",
			Args: json.RawMessage(`{"command":"` + name + `"}`)}})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		w.show(event.Event{Data: event.Progress{CallID: "c", Text: name}})
		time.Sleep(redraw)
		synctest.Wait()
		status := screen.shows()
		w.show(event.Event{Data: event.ToolEnd{CallID: "c", Tool: "bash", Summary: name, Millis: 2000}})
		chunk(w, event.Chunk{Text: name + name + "\n\n| 月份 | 收入 |\n|---|---|\n| " + name + " | 9 |\n\n"})
		w.close(runs.Outcome{})
		for _, line := range append(status, screen.shows()...) {
			if width(line) > 80 {
				t.Errorf("%d cells: %s", width(line), line)
			}
		}
		if !strings.Contains(screen.show(), "…") || !strings.Contains(screen.show(), "words in English") {
			t.Errorf("it shows\n%s", screen.show())
		}
	})
}

func TestATableKeepsItsColumns(t *testing.T) {
	var out bytes.Buffer
	if err := printTable(&out, [][]string{{"月份", "a"}, {"xy", "b"}, {"\x1b[31mlonger\x1b[0m", "c"}}); err != nil {
		t.Fatal(err)
	}
	if want := "月份    a\nxy      b\n\x1b[31mlonger\x1b[0m  c\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

// TestWhatIsLoggedIsALineForThePerson, in its place among what is shown.
func TestWhatIsLoggedIsALineForThePerson(t *testing.T) {
	screen := &tty{}
	stdio := IO{Err: screen, Out: screen}
	restore := stdio.logToPerson()
	defer restore()
	w := newWatcher(stdio, false)
	back := stdio.log.to(w.note)
	slog.Warn("a model cannot be used", "model", "m", "error", os.ErrNotExist, "run", "0190")
	slog.Info("not for people")
	w.close(runs.Outcome{})
	back()
	slog.Error("the end")
	if want := "! a model cannot be used (model m): file does not exist\n! the end\n"; screen.show() != want {
		t.Errorf("%q", screen.show())
	}
}

func TestJSONCountsTheCallsToo(t *testing.T) {
	var out, errs bytes.Buffer
	w := newWatcher(IO{Out: &out, Err: &errs}, true)
	w.show(event.Event{Data: event.Message{MessageID: "m"}})
	w.close(runs.Outcome{})
	if s := w.summary(runs.Outcome{}); !strings.HasPrefix(s, "1 model call · 0 tokens") {
		t.Error(s)
	}
}

// blocked is input that never comes.
type blocked chan struct{}

func (b blocked) Read([]byte) (int, error) {
	<-b
	return 0, os.ErrClosed
}

func TestAnInterruptTakesThePlaceOfAnAnswer(t *testing.T) {
	for _, args := range []string{colour, trip} {
		never := make(blocked)
		signals := make(chan os.Signal, 2)
		signals <- syscall.SIGINT
		stdio, shown := typed("")
		stdio.In, stdio.Signals = never, signals
		_, err := (&turn{io: stdio, thread: "t1"}).ask(questionsOf(asked(t, args)))
		if code := exitOf(err); code != ExitWaiting ||
			!strings.Contains(err.Error(), `no answer; go on later: pudu run --thread t1 "ANSWER"`) {
			t.Errorf("exit %d: %v\n%s", code, err, shown)
		}
		close(never)
	}
}
