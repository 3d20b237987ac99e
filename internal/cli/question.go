package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/clarification"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// question is something that the agent asked when its turn ended.
type question struct {
	clarification.Shown

	text string // all of it, in words
}

// questionsOf returns what the agent waits to be told, oldest first.
func questionsOf(s state.State) []question {
	shown, asked := clarification.Open(agent.Messages.Get(s))
	out := make([]question, len(shown))
	for i, q := range shown {
		out[i] = question{q, inert.Text(asked[i].Text())}
	}
	return out
}

// ask shows the questions and reads the replies. Without a terminal the questions are the output, and the exit code
// says that a reply is wanted.
func (t *turn) ask(questions []question) ([]message.Message, error) {
	if !t.io.InTTY || t.flags.json {
		if !t.flags.json {
			for _, q := range questions {
				fmt.Fprintln(t.io.Out, q.text)
			}
		}
		return nil, &codeError{ExitWaiting, fmt.Errorf("the agent waits for an answer: %s --thread %s \"ANSWER\"",
			t.again(), t.thread)}
	}
	var replies []message.Message
	for _, q := range questions {
		t.io.tell(nil, "\n"+q.text+"\n")
		reply, err := t.io.answer(q.Shown)
		if err != nil {
			return nil, &codeError{ExitWaiting, fmt.Errorf("no answer; go on later: %s --thread %s \"ANSWER\"",
				t.again(), t.thread)}
		}
		replies = append(replies, reply.Message(q.Shown))
	}
	return replies, nil
}

var errNoAnswer = errors.New("no answer")

// answer reads the answer to a question: a text, an option by its number or its name, or a form field by field.
func (stdio IO) answer(q clarification.Shown) (clarification.Reply, error) {
	if len(q.Fields) > 0 {
		return stdio.fillIn(q)
	}
	for {
		text, err := stdio.prompt("> ")
		if err == nil && text == "" {
			err = errNoAnswer
		}
		if err != nil {
			return clarification.Reply{}, err
		}
		if o, ok := chosen(q.Options, text); ok {
			return clarification.NewReply(q, o.Value, o.ID), nil
		}
		if !beside(q.Options, text) {
			return clarification.NewReply(q, text, ""), nil
		}
		fmt.Fprintln(stdio.Err, stdio.errStyle().
			yellow(fmt.Sprintf("There is no %s: give a number from 1 to %d, what stands behind it, or an answer of "+
				"your own.",
				text, len(q.Options))))
	}
}

// beside reports whether a text is a number that was meant for an option, but is that of none. Where options are
// numbers themselves it is an answer.
func beside(options []clarification.ShownOption, text string) bool {
	number := func(s string) bool {
		_, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(s), "."), 64)
		return err == nil
	}
	return len(options) > 0 && number(text) &&
		!slices.ContainsFunc(options,
			func(o clarification.ShownOption) bool { return number(o.Label) || number(o.Value) })
}

// errInterruptedAnswer: an interrupt took the place of an answer.
var errInterruptedAnswer = errors.New("interrupted")

// prompt reads a line; io.EOF says that there are no more. An interrupt ends it; the next one then ends the program at
// once, whatever is still to be closed.
func (stdio IO) prompt(p string) (string, error) {
	fmt.Fprint(stdio.Err, p)
	type answer struct {
		text string
		err  error
	}
	typed := make(chan answer, 1)
	go func() { // after an interrupt it reads on until the program ends, which is next
		text, err := stdio.line()
		typed <- answer{text, err}
	}()
	select {
	case a := <-typed:
		return a.text, a.err
	case <-stdio.Signals:
		fmt.Fprintln(stdio.Err)
		go func() {
			<-stdio.Signals
			os.Exit(ExitCancelled)
		}()
		return "", errInterruptedAnswer
	}
}

// chosen finds the option that a person means: by what it says, or by its number.
func chosen(options []clarification.ShownOption, text string) (clarification.ShownOption, bool) {
	text = strings.TrimSpace(text)
	i := slices.IndexFunc(options, func(o clarification.ShownOption) bool {
		return strings.EqualFold(o.Label, text) || strings.EqualFold(o.Value, text)
	})
	if n, err := strconv.Atoi(strings.TrimSuffix(text, ".")); i < 0 && err == nil {
		i = n - 1
	}
	if i < 0 || i >= len(options) {
		return clarification.ShownOption{}, false
	}
	return options[i], true
}

// fillIn asks for each field of a form. What does not fit is asked again.
func (stdio IO) fillIn(q clarification.Shown) (clarification.Reply, error) {
	form := make([]string, 0, len(q.Fields))
	for _, f := range q.Fields {
		value, err := stdio.field(f)
		if err != nil {
			return clarification.Reply{}, err
		}
		if value == "" {
			continue
		}
		form = append(form, f.Label+": "+value)
	}
	if len(form) == 0 {
		return clarification.Reply{}, errNoAnswer
	}
	return clarification.NewReply(q, strings.Join(form, "\n"), ""), nil
}

// field asks for one field until it has an answer that fits; empty means that the person leaves it out.
func (stdio IO) field(f clarification.ShownField) (string, error) {
	look := stdio.errStyle()
	for i, o := range f.Options {
		fmt.Fprintf(stdio.Err, "    %d. %s\n", i+1, inert.Line(o.Label))
	}
	for {
		text, err := stdio.prompt("  " + look.bold(inert.Line(f.Label)) + look.dim(hint(f)) + ": ")
		if err != nil {
			return "", err
		}
		value, problem := fieldValue(f, text)
		if problem == "" {
			return value, nil
		}
		fmt.Fprintln(stdio.Err, look.yellow("  "+problem))
	}
}

// hint tells what may be entered.
func hint(f clarification.ShownField) string {
	var parts []string
	switch f.Type {
	case "select":
		parts = append(parts, "one of them")
	case "multi_select":
		parts = append(parts, "any of them, with commas")
	case "checkbox":
		parts = append(parts, "y/n")
	case "date":
		parts = append(parts, "YYYY-MM-DD")
	case "number":
		parts = append(parts, "a number")
	}
	if f.Placeholder != "" {
		parts = append(parts, inert.Line(f.Placeholder))
	}
	if !f.Required {
		parts = append(parts, "Enter to leave it out")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// fieldValue is what was entered as the field's value in words, or what is wrong with it.
func fieldValue(f clarification.ShownField, text string) (value, problem string) {
	if text == "" {
		if f.Required {
			return "", "This one is needed."
		}
		return "", ""
	}
	switch f.Type {
	case "select":
		return options(f, []string{text})
	case "multi_select":
		return options(f, strings.Split(text, ","))
	case "checkbox":
		return yesNo(text)
	case "number":
		if !json.Valid([]byte(text)) || strings.ContainsAny(text, `"[{tfn`) {
			return "", "This is no number, such as 12 or 2.5."
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "", "This is no date, such as 2026-07-31."
		}
	}
	return text, ""
}

func options(f clarification.ShownField, texts []string) (value, problem string) {
	var labels []string
	for _, text := range texts {
		o, ok := chosen(f.Options, text)
		if !ok {
			return "", fmt.Sprintf("There is no %q: give a number from 1 to %d, or what stands behind it.",
				strings.TrimSpace(text), len(f.Options))
		}
		if !slices.Contains(labels, o.Label) {
			labels = append(labels, o.Label)
		}
	}
	return strings.Join(labels, ", "), ""
}

func yesNo(text string) (value, problem string) {
	switch strings.ToLower(text) {
	case "y", "yes", "true", "1", "x":
		return "yes", ""
	case "n", "no", "false", "0":
		return "no", ""
	}
	return "", "Enter y or n."
}
