package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/clarification"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// asked is the state of a thread whose last turn asked with these arguments, and called something else, too.
func asked(t *testing.T, args ...string) state.State {
	t.Helper()
	ai := message.New(message.AI, "")
	ai.ID = "ai"
	msgs := []message.Message{ai}
	for i, a := range args {
		r := clarification.Parse(json.RawMessage(a))
		id := string(rune('a' + i))
		m := message.New(message.Tool, r.Text())
		m.ID, m.Name, m.ToolCallID, m.Artifact = r.ID(id), clarification.ToolName, id, r.Artifact(id)
		msgs = append(msgs, m)
	}
	ls := message.New(message.Tool, "files")
	ls.ID, ls.Name = "ls", "ls"
	s, _, err := state.State{}.Apply(agent.Messages.Append(append(msgs, ls)...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	colour = `{"question":"Which colour?","options":[{"label":"Red","value":"r"},"Blue","3 \u001b[31mstripes"]}`
	trip   = `{"question":"Your trip?","clarification_type":"missing_info","fields":[
		{"name":"city","label":"City","required":true,"placeholder":"e.g. Lisbon"},
		{"name":"meals","label":"Meals","type":"multi_select","options":["Lunch","Dinner"]},
		{"name":"seat","label":"Seat","type":"select","required":true,"options":["Aisle","Window"]},
		{"name":"dog","label":"A dog?","type":"checkbox"},
		{"name":"days","label":"Days","type":"number"},
		{"name":"from","label":"From","type":"date"}]}`
)

// typed is a terminal at which a person types the lines.
func typed(lines string) (IO, *bytes.Buffer) {
	var errs bytes.Buffer
	return IO{In: bufio.NewReader(strings.NewReader(lines)), Out: &errs, Err: &errs, InTTY: true, ErrTTY: true,
		Plain: true}, &errs
}

func TestAnswersAtATerminal(t *testing.T) {
	for _, tt := range []struct{ name, args, lines, want, option string }{
		{"an option by its number", colour, "1\n", `Answer to your question "Which colour?": Red (r)`, "option-1"},
		{"an option by its name", colour, "blue\n", `Answer to your question "Which colour?": Blue`, "option-2"},
		{"an option by its value", colour, "R\n", `Answer to your question "Which colour?": Red (r)`, "option-1"},
		{"a number of no option", colour, "7\n0\n2.\n", `Answer to your question "Which colour?": Blue`, "option-2"},
		{"a number among numbers", `{"question":"How many?","options":["10","20"]}`, "15\n",
			`Answer to your question "How many?": 15`, ""},
		{"something else", colour, "green, please", `Answer to your question "Which colour?": green, please`, ""},
		{"free text", `{"question":"Name?"}`, "Ada\n", `Answer to your question "Name?": Ada`, ""},
		{"a form", trip, "Rome\n1, dinner\n2\ny\n3.5\n2026-07-31\n",
			"Answer to your question \"Your trip?\":\nCity: Rome\nMeals: Lunch, Dinner\nSeat: Window\nA dog?: yes\nDays: 3.5\nFrom: 2026-07-31", ""},
		{"a form with holes", trip, "Rome\n\naisle\n\n\n\n",
			"Answer to your question \"Your trip?\":\nCity: Rome\nSeat: Aisle", ""},
		{"a form with mistakes", trip, "\nRome\n9\n1\n\n1\nmaybe\nn\nmany\n2\ntomorrow\n2026-01-01\n",
			"Answer to your question \"Your trip?\":\nCity: Rome\nMeals: Lunch\nSeat: Aisle\nA dog?: no\nDays: 2\nFrom: 2026-01-01", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdio, shown := typed(tt.lines)
			replies, err := (&turn{io: stdio}).ask(questionsOf(asked(t, tt.args)))
			if err != nil || len(replies) != 1 {
				t.Fatal(err, len(replies))
			}
			if diff := cmp.Diff(tt.want, replies[0].Text()); diff != "" {
				t.Errorf("%s\n%s", diff, shown)
			}
			r, ok := clarification.ReadReply(replies[0])
			if !ok || r.OptionID != tt.option || r.RequestID != "clarification:a" {
				t.Errorf("%+v", r)
			}
			if strings.Contains(shown.String(), "\x1b") {
				t.Errorf("the question reaches the terminal as it is: %q", shown)
			}
		})
	}
}

func TestFormIsReadableAtATerminal(t *testing.T) {
	stdio, shown := typed("Rome\n\nx\n2\n\n\n\n")
	if _, err := (&turn{io: stdio}).ask(questionsOf(asked(t, trip))); err != nil {
		t.Fatal(err)
	}
	want := "\n❓ Your trip?\n\n  1. City (required)\n  2. Meals — options: Lunch / Dinner (multiple allowed)\n" +
		"  3. Seat (required) — options: Aisle / Window\n  4. A dog?\n  5. Days\n  6. From\n\nPlease reply with a value for each field.\n\n" +
		"  City (e.g. Lisbon): " +
		"    1. Lunch\n    2. Dinner\n  Meals (any of them, with commas; Enter to leave it out): " +
		"    1. Aisle\n    2. Window\n  Seat (one of them): " +
		"  There is no \"x\": give a number from 1 to 2, or what stands behind it.\n  Seat (one of them): " +
		"  A dog? (y/n; Enter to leave it out): " +
		"  Days (a number; Enter to leave it out): " +
		"  From (YYYY-MM-DD; Enter to leave it out): "
	if diff := cmp.Diff(want, shown.String()); diff != "" {
		t.Error(diff)
	}
}

func TestNoAnswerLeavesTheQuestionOpen(t *testing.T) {
	for name, lines := range map[string]string{"end of input": "", "empty line": "\n", "half a form": "Rome\n"} {
		for _, args := range []string{colour, trip} {
			stdio, _ := typed(lines)
			if lines == "Rome\n" && args == colour {
				continue
			}
			_, err := (&turn{io: stdio, thread: "t1"}).ask(questionsOf(asked(t, args)))
			if err == nil || !strings.Contains(err.Error(), "--thread t1") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestQuestionWithoutATerminalIsTheOutput(t *testing.T) {
	var out bytes.Buffer
	_, err := (&turn{io: IO{Out: &out}, thread: "t1"}).
		ask(questionsOf(asked(t, `{"question":"One?"}`, `{"question":"Two?"}`)))
	if err == nil || out.String() != "❓ One?\n❓ Two?\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// answering is a Pudu whose agent asks twice at once and then answers.
type answering struct {
	Runner

	first state.State
	got   [][]message.Message
}

func (r *answering) Run(_ context.Context, req runs.Request, _ map[string][]byte, _ func(event.Event),
	_ func(string)) (runs.Outcome, error) {
	r.got = append(r.got, req.Input)
	out := runs.Outcome{Run: store.Run{Status: event.StatusSuccess}, State: r.first}
	if len(r.got) > 1 {
		m := message.New(message.AI, "done")
		m.ID = "end"
		out.State, _, _ = r.first.Apply(agent.Messages.Append(m))
	}
	return out, nil
}

func TestAnswersAreTheNextTurn(t *testing.T) {
	stdio, shown := typed("2\nAda\n")
	runner := &answering{first: asked(t, colour, `{"question":"Name?"}`)}
	tn := &turn{session: &Session{Runner: runner}, io: stdio, thread: "t1",
		input: []message.Message{message.New(message.Human, "go")}}
	if err := tn.converse(t.Context(), tn.carryOut); err != nil {
		t.Fatal(err, shown)
	}
	var got []string
	for _, m := range runner.got[1] {
		r, _ := clarification.ReadReply(m)
		got = append(got, r.RequestID+" "+m.Text())
	}
	want := []string{`clarification:a Answer to your question "Which colour?": Blue`,
		`clarification:b Answer to your question "Name?": Ada`}
	if diff := cmp.Diff(want, got); diff != "" || len(runner.got) != 2 {
		t.Errorf("%d runs; %s", len(runner.got), diff)
	}
}
