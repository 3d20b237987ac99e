package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// maxShown bounds what is shown of a call's arguments before somebody asks for more, in characters.
const maxShown = 4000

// approve has a person decide about the calls that wait, one by one, and returns the answers by interrupt id. Without a
// terminal the calls are the output, and the exit code says that somebody has to decide.
func (t *turn) approve(asked []event.Interrupt) (json.RawMessage, error) {
	if !t.io.InTTY || t.flags.json {
		for _, q := range asked {
			if !t.flags.json {
				fmt.Fprintln(t.io.Out, describe(q.Value, maxShown))
			}
		}
		return nil, t.undecided("the agent waits for approval", "")
	}
	answers := make(map[string]json.RawMessage, len(asked))
	for _, q := range asked {
		t.io.present(describe(q.Value, maxShown))
		answer, err := t.io.decide(q.Value)
		if err != nil {
			return nil, t.undecided("no answer", " later")
		}
		answers[q.InterruptID] = answer
	}
	return json.Marshal(answers)
}

// undecided is the end of a run that waits; it says what to type.
func (t *turn) undecided(what, when string) error {
	again := t.again() + " --thread " + t.thread + t.flags.choices.String() + secretFlags(t.flags.given)
	return &codeError{ExitWaiting, fmt.Errorf("%s; go on%s: %s --approve, or --reject \"WHY\"", what, when, again)}
}

// decide reads what is to become of a call. Any other question is answered with a line of text.
func (stdio IO) decide(value json.RawMessage) (json.RawMessage, error) {
	q, ok := approval.ReadQuestion(value)
	if !ok {
		text, err := stdio.prompt("> ")
		return rawjson.AppendString(nil, text), err
	}
	for {
		text, err := stdio.prompt(choicesOf(q))
		if err != nil {
			return nil, err
		}
		if scope := scopeOf(text); q.Scopes && scope != approval.Once {
			return stdio.widen(value, scope)
		}
		switch strings.ToLower(text) {
		case "y", "yes":
			return approval.Decision{Kind: approval.Approve}.Answer(), nil
		case "n", "no":
			why, err := stdio.prompt("What shall the agent know about it? (Enter for nothing) ")
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return approval.Decision{Kind: approval.Reject, Message: why}.Answer(), err
		case "e", "edit":
			if args, err := stdio.edit(q); args != nil || err != nil {
				return approval.Decision{Kind: approval.Edit, Name: q.Tool, Args: args}.Answer(), err
			}
		case "a", "all":
			stdio.present(describe(value, len(value)))
		default:
			letters := "y, n, e or a"
			if q.Scopes {
				letters = "y, t, w, n, e or a"
			}
			fmt.Fprintln(stdio.Err, stdio.errStyle().yellow("Enter "+letters+"."))
		}
	}
}

func choicesOf(q approval.Question) string {
	if q.Scopes {
		return "Allow it? (y)es, once; in this (t)hread; al(w)ays; (n)o, (e)dit, (a)ll of it again: "
	}
	return "Allow it? (y)es, (n)o, (e)dit, (a)ll of it again: "
}

// scopeOf is the scope beyond once that somebody chose.
func scopeOf(text string) approval.Scope {
	switch strings.ToLower(text) {
	case "t", "thread":
		return approval.Thread
	case "w", "always":
		return approval.Always
	}
	return approval.Once
}

// widen asks for which calls an approval is.
func (stdio IO) widen(value json.RawMessage, scope approval.Scope) (json.RawMessage, error) {
	for {
		text, err := stdio.prompt("For which calls? (Enter for exactly this one; or its beginning and a *, such as " +
			"git status*) ")
		if err != nil {
			return nil, err
		}
		d := approval.Decision{Kind: approval.Approve, Scope: scope, Pattern: text}
		_, wrong := approval.Granted(value, d)
		if wrong == nil {
			return d.Answer(), nil
		}
		fmt.Fprintln(stdio.Err, stdio.errStyle().yellow(inert.Line(wrong.Error())))
	}
}

// edit reads other arguments for a call; nil if it shall stay as it is after all.
func (stdio IO) edit(q approval.Question) (json.RawMessage, error) {
	fmt.Fprintf(stdio.Err, "%s\n", inert.Line(string(q.Args)))
	for {
		text, err := stdio.prompt("New arguments, as JSON on one line (Enter to leave them): ")
		if err != nil || text == "" {
			return nil, err
		}
		if _, ok := rawjson.Members([]byte(text)); ok && json.Valid([]byte(text)) {
			return json.RawMessage(text), nil
		}
		fmt.Fprintln(stdio.Err, stdio.errStyle().yellow(`This is no object of JSON, such as {"command": "ls"}.`))
	}
}

// present shows a call and why it waits. The call is shown as it is.
func (stdio IO) present(described string) {
	why, call, _ := strings.Cut(described, "\n")
	stdio.tell(nil, "\n"+why)
	fmt.Fprintf(stdio.Err, "%s\n\n", call)
}

// describe is a question in words: why it is asked, the tool, and its arguments up to a number of characters.
func describe(value json.RawMessage, most int) string {
	q, ok := approval.ReadQuestion(value)
	if !ok {
		if text, isText := rawjson.String(value); isText {
			return "? " + cut(inert.Text(text), most)
		}
		return "? " + cut(inert.Text(string(value)), most)
	}
	return "! " + inert.Text(q.Why) + "\n\n  " + inert.Line(q.Tool) + "\n" + cut(arguments(q.Args), most)
}

// arguments shows the arguments of a call line by line, texts as they are.
func arguments(args json.RawMessage) string {
	members, _ := rawjson.Members(args)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text, ok := rawjson.String(members[name])
		if !ok {
			text = string(members[name])
		}
		text = strings.TrimRight(inert.Text(text), "\n")
		lines = append(lines, "    "+inert.Line(name)+": "+strings.ReplaceAll(text, "\n", "\n      "))
	}
	return strings.Join(lines, "\n")
}

// cut is the beginning of a text; it says how much is missing.
func cut(s string, most int) string {
	first := excerpt.First(s, most)
	if first == s {
		return s
	}
	return fmt.Sprintf("%s\n    … and %d more characters", first, utf8.RuneCountInString(s[len(first):]))
}

// decideRun is pudu run --approve or --reject: it answers all calls of a thread that wait for approval, and shows how
// the run goes on.
func decideRun(ctx context.Context, app App, o Options, f runFlags, stdio IO, args []string) error {
	switch {
	case len(args) > 0 || len(f.files) > 0 || f.resume:
		return usageError("--approve and --reject answer what a thread waits for; they take no task, no --file and " +
			"no --resume")
	case f.approve && f.rejects:
		return usageError("--approve and --reject exclude each other")
	case f.rejects && (f.scope != "" || f.pattern != ""):
		return usageError("--scope and --pattern go with --approve")
	case f.thread == "" && !f.cont:
		return usageError("--approve and --reject need the thread: --thread ID, or --continue for the last one")
	}
	return onThread(ctx, app, o, f, stdio, func(t *turn) (err error) {
		if err := t.needModel(ctx, app, t.options); err != nil {
			return err
		}
		if t.answers, err = t.decideAll(ctx); err != nil {
			return err
		}
		return t.converse(ctx, t.carryOut)
	})
}

// decideAll is the same decision about all calls that wait.
func (t *turn) decideAll(ctx context.Context) (json.RawMessage, error) {
	asked, err := t.waiting(ctx)
	if err != nil {
		return nil, err
	}
	d := approval.Decision{Kind: approval.Approve, Pattern: t.flags.pattern}
	if d.Scope, err = approval.ParseScope(t.flags.scope); err != nil {
		return nil, usageError("--scope: %v", err)
	}
	if d.Scope == approval.Once && d.Pattern != "" {
		return nil, usageError("--pattern goes with --scope thread or always")
	}
	if t.flags.rejects {
		d = approval.Decision{Kind: approval.Reject, Message: t.flags.reject}
	}
	answers := make(map[string]json.RawMessage, len(asked))
	for _, q := range asked {
		if approval.IsQuestion(q.Value) {
			answers[q.InterruptID] = d.Answer()
		}
	}
	if len(answers) == 0 {
		return nil, usageError("nothing on thread %s waits for approval", t.thread)
	}
	return json.Marshal(answers)
}

// waiting are the thread's questions about calls.
func (t *turn) waiting(ctx context.Context) ([]event.Interrupt, error) {
	_, err := t.session.List.Thread(ctx, t.thread)
	if err != nil {
		return nil, &codeError{ExitFailed, err}
	}
	asked, err := t.session.Questions(ctx, t.thread)
	if err != nil {
		return nil, &codeError{ExitFailed, err}
	}
	return asked, nil
}
