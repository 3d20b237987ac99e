package anthropic

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/history"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// noParameters is the schema of a tool without arguments; the API demands one.
const noParameters = `{"type":"object","properties":{}}`

// rules are what the API demands of a conversation; what it wants of the blocks within a message is seen to in
// turns.go.
var rules = history.Rules{
	System: history.SystemFirst, UserFirst: true, NoPrefill: true, Blank: history.BlankDropped,
	Images: history.ImagesInResults, RawTypes: []string{"document", "search_result"},
	IDs: history.Shape{Chars: history.Chars("a-zA-Z0-9_-")}, UniqueIDs: true,
	Tools: history.Shape{Min: 1, Max: 64, Chars: history.Chars("a-zA-Z0-9_-")},
}

// encode writes the request body and says whether the model shall think between tool calls. It fails for what cannot be
// sent: an image that the API does not take, a schema that is no JSON.
func (m *Model) encode(req *model.Request) (body []byte, interleaved bool, err error) {
	if m.invalid != "" {
		return nil, false, m.badRequest("the configured field " + m.invalid + " is not valid JSON")
	}
	o := m.options(req.Settings)
	if o.thinking == thinkEnabled && m.begunWithout(req.Messages) {
		o.disable()
	}
	if len(req.Tools) > 0 && req.Settings.NoTools {
		o.fields["tool_choice"] = json.RawMessage(`{"type":"none"}`)
	}
	w := &writer{model: m, noThinking: o.thinking == thinkDisabled, buf: make([]byte, 0, wire.RoomFor(req))}
	w.buf = rawjson.AppendString(append(w.buf, `{"model":`...), m.cfg.Model)
	if err := w.tools(req.Tools); err != nil {
		return nil, false, err
	}
	if err := w.messages(w.system(req.System, req.Messages)); err != nil {
		return nil, false, err
	}
	w.markMessages()
	w.markAt(w.head)
	return append(wire.AppendFields(w.buf, o.fields), '}'), o.thinking == thinkEnabled && len(req.Tools) > 0, nil
}

// tools writes the tools.
func (w *writer) tools(list []model.Tool) error {
	for i, t := range list {
		w.buf = append(w.buf, pick(i == 0, `,"tools":[{"name":`, `,{"name":`)...)
		w.buf = rawjson.AppendString(w.buf, t.Name)
		w.member("description", t.Description)
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(noParameters)
		}
		var err error
		if w.buf, err = rawjson.AppendRaw(append(w.buf, `,"input_schema":`...), schema); err != nil {
			return w.model.badRequest("the parameters of tool " + t.Name + " are not valid JSON; give a JSON schema")
		}
		w.buf = append(w.buf, '}')
	}
	if len(list) > 0 {
		w.head = len(w.buf) - 1
		w.buf = append(w.buf, ']')
	}
	return nil
}

// system writes the system prompt and the system messages that begin the conversation, and returns the messages behind
// them. A later one goes out where it stands, as the user's: here it would change what every request begins with.
func (w *writer) system(prompt string, rest []message.Message) []message.Message {
	texts := []string{prompt}
	for len(rest) > 0 && rest[0].Role == message.System {
		texts = append(texts, rest[0].Text())
		rest = rest[1:]
	}
	first := true
	for _, text := range texts {
		if blank(text) {
			continue
		}
		w.buf = append(w.buf, pick(first, `,"system":[`, `,`)...)
		w.textBlock(text)
		first, w.head = false, len(w.buf)-1
	}
	if !first {
		w.buf = append(w.buf, ']')
	}
	return rest
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func (m *Model) badRequest(text string) error {
	return m.client.Error(model.ClassBadRequest, nil, "%s", text)
}
