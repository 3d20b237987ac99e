package cli

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// typist reads the lines that a person types, for whoever wants the next one: a question, or a run at work. It reads
// one ahead.
type typist struct {
	once  sync.Once
	lines chan typedLine
}

type typedLine struct {
	text string
	err  error
}

// next is where the next line comes; closed behind the last one.
func (t *typist) next(read func() (string, error)) <-chan typedLine {
	t.once.Do(func() {
		t.lines = make(chan typedLine)
		go func() { // reads until there is no more, or the program ends
			defer close(t.lines)
			for {
				text, err := read()
				if err == io.EOF {
					return
				}
				if t.lines <- (typedLine{text, err}); err != nil {
					return
				}
			}
		}()
	})
	return t.lines
}

// listen has what a person types while a run works said to it, a line each, from its first event on until stop is
// called. It is for a terminal: elsewhere the input is meant for something else.
func (t *turn) listen(ctx context.Context, w *watcher) (show func(event.Event), stop func()) {
	if t.io.typed == nil || !t.io.InTTY || !t.io.ErrTTY || t.flags.json {
		return w.show, func() {}
	}
	begun, done := make(chan struct{}), make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		select {
		case <-begun:
		case <-done:
			return
		}
		for {
			select {
			case line, more := <-t.io.typed.next(t.io.nextLine):
				if !more || line.err != nil {
					return
				}
				t.say(ctx, w, line.text)
			case <-done:
				return
			}
		}
	})
	begin := sync.OnceFunc(func() { close(begun) })
	return func(ev event.Event) {
			begin()
			w.show(ev)
		}, func() {
			close(done)
			listening.Wait()
		}
}

// sayLimit bounds how long it is tried to say a line.
const sayLimit = 10 * time.Second

// say says a line to the run.
func (t *turn) say(ctx context.Context, w *watcher, text string) {
	w.typed()
	if text == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sayLimit)
	defer cancel()
	id, err := t.session.Runner.Say(ctx, runs.Request{
		ThreadID: t.thread, UserID: t.session.UserID, Input: []message.Message{message.New(message.Human, text)},
		Model:   t.session.Model,
		Secrets: t.flags.given, // for the case that it becomes a run of its own
	})
	if err != nil {
		w.note("! not said: " + inert.Line(err.Error()))
		return
	}
	t.said = append(t.said, id)
	w.note("> " + inert.Line(text) + "   (read before the next step)")
}

// unread is the run that goes on with what was said too late for the one before; false if that has read everything.
// What a person has said to a run that he stops is taken back.
func (t *turn) unread(ctx context.Context, out runs.Outcome) (next store.Run, more bool, err error) {
	ctx = context.WithoutCancel(ctx)
	for len(t.said) > 0 && !more && err == nil {
		id := t.said[0]
		t.said = t.said[1:]
		if out.Run.StopReason == store.Cancelled && t.session.Runner.TakeBack(ctx, t.thread, id) == nil {
			t.io.tell(t.io.errStyle().yellow, "! what you said last was not read, and is taken back")
			continue
		}
		next, err = t.session.Runner.Said(ctx, t.thread, id)
		more = err == nil && next.Active()
	}
	if err != nil {
		err = fmt.Errorf("find out what became of what was said: %w", err)
	}
	return next, more, err
}
