package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// filled is a text that must be there.
type filled string

// ReadFrom implements [route.Reader].
func (f *filled) ReadFrom(in *route.Input, name string) {
	in.Demand(name)
	*f = filled(in.Str(name))
	if in.Raw(name) != nil && *f == "" && len(in.Faults) == 0 {
		in.Add("string_too_short", "String should have at least 1 character", route.Quoted(in.Raw(name)),
			in.Loc(name)...).
			Ctx = map[string]any{"min_length": 1}
	}
}

// preparedJSON is what a client sends with the run: the input, the checkpoint that it begins on, and the metadata.
type preparedJSON struct {
	Input      inputJSON         `json:"input"`
	Checkpoint checkpointJSON    `json:"checkpoint"`
	Metadata   map[string]string `json:"metadata"`
	Target     string            `json:"target_run_id"`
	// Of an edit.
	Replacement string   `json:"replacement_human_message_id,omitempty"`
	Sources     []string `json:"source_message_ids,omitempty"`
}

type inputJSON struct {
	Messages []messageJSON `json:"messages"`
	Title    string        `json:"title,omitempty"`
}

type messageJSON struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Content json.RawMessage `json:"content"`
	Kwargs  json.RawMessage `json:"additional_kwargs"`
	Name    string          `json:"name"`
}

type checkpointJSON struct {
	Namespace string  `json:"checkpoint_ns"`
	ID        string  `json:"checkpoint_id"`
	Map       *string `json:"checkpoint_map"` // always null
}

// userInput is the name of what a human says.
const userInput = "user-input"

func conflict(why string) error { return route.Failf(http.StatusConflict, "%s", why) }

type regenerateIn struct {
	Thread  store.Thread `of:"thread"`
	Message filled       `body:"message_id"`
	AnyTurn bool         `body:"any_turn" doc:"the answer need not be the latest one"`
	Files   moment       `body:"files" doc:"then or now; then: the run is to begin with the files as they were before that turn"`
}

// regenerate prepares a run that answers the same words once more.
func (g *Group) regenerate(ctx context.Context, in *regenerateIn) (out preparedJSON, err error) {
	t, err := g.turn(ctx, in.Thread.ID, string(in.Message))
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(t.Answers, func(m history.Message) bool { return idOf(m) == string(in.Message) })
	switch {
	case t.Human.Seq == 0:
		return out, conflict("Could not find the user message for this assistant response")
	case i < 0 || t.Answers[i].Kind != message.AI:
		return out, conflict("Only visible assistant messages can be regenerated")
	case !in.AnyTurn &&
		(!t.Last || slices.ContainsFunc(t.Answers[i+1:], func(m history.Message) bool { return m.Kind == message.AI })):
		return out, conflict("Only the latest assistant message can be regenerated")
	}
	said, err := decoded(t.Human)
	if err != nil {
		return out, err
	}
	answer := t.Answers[i]
	out = g.prepared(ctx, in.Thread, t, answer, in.Files)
	out.Input = inputJSON{[]messageJSON{ownWords(said)}, in.Thread.Title}
	return out, nil
}

// turn is the one that a message is in.
func (g *Group) turn(ctx context.Context, thread, id string) (history.Turn, error) {
	t, err := g.mine(ctx).Turn(ctx, thread, id)
	if errors.Is(err, store.ErrNotFound) {
		return t, route.NotFound("Message", route.Clip(id))
	}
	return t, err
}

// prepared is what a run needs that stands in the place of the one that gave an answer.
func (g *Group) prepared(ctx context.Context, thread store.Thread, t history.Turn, answer history.Message,
	files moment) preparedJSON {
	r := g.rowsOf(ctx, thread)
	run := r.row(answer).RunID
	out := preparedJSON{
		Checkpoint: checkpointJSON{ID: t.Base}, Target: run,
		Metadata: map[string]string{
			"regenerate_from_message_id": idOf(answer), "regenerate_from_run_id": run,
			"regenerate_checkpoint_id": t.Base,
		},
	}
	if files == runs.FilesThen {
		out.Metadata["replay_files"] = string(files)
	}
	return out
}

// ownWords is what a human said, without what was added to it for the model.
func ownWords(said message.Message) messageJSON {
	out := messageJSON{Type: string(message.Human), ID: said.ID, Name: said.Name, Kwargs: encoded(said.Kwargs)}
	if out.Name == "" {
		out.Name = userInput
	}
	out.Content = content(said, conversation.OwnText(said))
	return out
}

// content are other words in the place of a message's, with what it has beside words.
func content(m message.Message, text string) json.RawMessage {
	parts := []message.Part{message.Text(text)}
	for _, p := range m.Content {
		if p.Type != message.PartText {
			parts = append(parts, p)
		}
	}
	members := shape.Members(encoded(message.Message{Role: message.Human, Content: parts, List: true}))
	return members["content"]
}

// encoded is a value of this program as JSON.
func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil || string(raw) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

func decoded(m history.Message) (out message.Message, err error) {
	if err = json.Unmarshal(m.Content, &out); err != nil {
		err = fmt.Errorf("decode message %d: %w", m.Seq, err)
	}
	return out, err
}

func idOf(m history.Message) string {
	members, _ := rawjson.Members(m.Content)
	id, _ := rawjson.String(members["id"])
	return id
}

type editIn struct {
	Thread  store.Thread `of:"thread"`
	Message filled       `body:"human_message_id"`
	Text    filled       `body:"replacement_text"`
	AnyTurn bool         `body:"any_turn" doc:"the message need not be of the latest turn, nor that turn a success"`
	Files   moment       `body:"files" doc:"then or now; then: the run is to begin with the files as they were before that turn"`
}

// edit prepares a run that answers other words in the place of what a human said.
func (g *Group) edit(ctx context.Context, in *editIn) (out preparedJSON, err error) {
	t, err := g.turn(ctx, in.Thread.ID, string(in.Message))
	if err != nil {
		return out, err
	}
	said, text := message.Message{}, strings.TrimSpace(string(in.Text))
	if t.Human.Seq > 0 {
		if said, err = decoded(t.Human); err != nil {
			return out, err
		}
	}
	if err := editable(t, said, in, text); err != nil {
		return out, err
	}
	last := t.Human
	if n := len(t.Answers); n > 0 {
		last = t.Answers[n-1]
	}
	out = g.prepared(ctx, in.Thread, t, last, in.Files)
	words := messageJSON{Type: string(message.Human), ID: id.New(g.Now()), Name: userInput,
		Content: content(said, text)}
	words.Kwargs = encoded(kept(said.Kwargs))
	out.Input.Messages = []messageJSON{words}
	maps.Copy(out.Metadata, map[string]string{
		"replay_kind": runs.ReplayEdit, "edit_from_message_id": said.ID, "edit_message_id": words.ID,
		"edit_version_group_id": said.ID,
	})
	out.Replacement, out.Sources = words.ID, []string{said.ID}
	for _, m := range t.Answers {
		out.Sources = append(out.Sources, idOf(m))
	}
	base, err := g.Mine(ctx).Checkpoint(ctx, g.Manager.Schema(), in.Thread.ID, t.Base)
	out.Input.Title = threadstate.Title.Get(base.State)
	return out, err
}

// kept is what an edited message keeps beside its words: the files that came with it.
func kept(kwargs message.Fields) message.Fields {
	if files := kwargs["files"]; files != nil {
		return message.Fields{"files": files}
	}
	return nil
}

// editable says why what a human said in a turn cannot be replaced.
func editable(t history.Turn, said message.Message, in *editIn, text string) error {
	switch {
	case said.ID != string(in.Message) || !in.AnyTurn && !t.Last:
		return conflict("Only the latest completed user turn can be edited")
	case text == "":
		return conflict("Edited message cannot be empty")
	case !utf8.ValidString(text):
		return conflict("Edited message is not UTF-8")
	case text == strings.TrimSpace(conversation.OwnText(said)):
		return conflict("Edited message is unchanged")
	case in.AnyTurn:
		return nil
	}
	var last message.Message
	if n := len(t.Answers); n > 0 {
		var err error
		if last, err = decoded(t.Answers[n-1]); err != nil {
			return err
		}
		if run := t.Answers[n-1]; run.RunID != "" && run.Status != event.StatusSuccess {
			return conflict("Only successful assistant runs can be edited and rerun")
		}
	}
	if last.Role != message.AI || len(last.ToolCalls) > 0 || last.Text() == "" {
		return conflict("Only completed assistant text turns can be edited")
	}
	return nil
}
