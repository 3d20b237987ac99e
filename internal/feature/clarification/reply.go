package clarification

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/message"
)

// Kinds of a reply.
const (
	ReplyText   = "text"
	ReplyOption = "option"
)

const replyKind = "human_input_response"

// Reply is the user's answer to a question as clients send it, in additional_kwargs of a message that they hide. An
// answer may as well come as a plain message; then there is none of this.
type Reply struct {
	Version   int    `json:"version"`
	Kind      string `json:"kind"`
	Source    string `json:"source"`
	RequestID string `json:"request_id"`
	// ResponseKind is "option" for one of the question's options, with its OptionID, and "text" for all else.
	ResponseKind string `json:"response_kind"`
	OptionID     string `json:"option_id,omitempty"`
	// Value is a string: the option's value or what the user wrote. Of a form it may be an object with a member for
	// each field, too.
	Value json.RawMessage `json:"value"`
}

// NewReply makes the reply of a text, or of an option if its id is given.
func NewReply(q Shown, value, optionID string) Reply {
	r := Reply{
		Version: 1, Kind: replyKind, Source: ToolName, RequestID: q.RequestID,
		ResponseKind: ReplyText, Value: encode(value),
	}
	if optionID != "" {
		r.ResponseKind, r.OptionID = ReplyOption, optionID
	}
	return r
}

// Message makes the message that carries the reply: hidden from people, who see it with the question, and with a text
// that tells the model all of it. Its id is left to others.
func (r Reply) Message(q Shown) message.Message {
	m := message.New(message.Human, r.Text(q))
	m.Kwargs = message.Fields{message.KeyHidden: json.RawMessage("true"), conversation.KeyReply: encode(r)}
	return m
}

// ReadReply returns the reply that a message carries, and whether it carries one.
func ReadReply(m message.Message) (Reply, bool) {
	var r Reply
	if !conversation.IsReply(m) || json.Unmarshal(m.Kwargs[conversation.KeyReply], &r) != nil {
		return Reply{}, false
	}
	return r, true
}

// maxQuoted bounds the question where an answer repeats it, in runes.
const maxQuoted = 200

// Text is the reply in words. q is the question, or the zero value if nobody knows it any more.
func (r Reply) Text(q Shown) string {
	answer := r.answer(q)
	if answer == "" {
		answer = "(no answer)"
	}
	question := excerpt.Clip(strings.Join(strings.Fields(q.Question), " "), maxQuoted)
	if question == "" {
		return answer
	}
	sep := " "
	if strings.Contains(answer, "\n") || len(q.Fields) > 0 {
		sep = "\n"
	}
	return "Answer to your question \"" + question + "\":" + sep + answer
}

func (r Reply) answer(q Shown) string {
	value := r.Value
	if len(q.Fields) > 0 {
		value = unquote(value)
	}
	if value = bytes.TrimSpace(value); len(value) > 0 && value[0] == '{' {
		return filledIn(value, q.Fields)
	}
	if i := slices.IndexFunc(q.Options, func(o ShownOption) bool { return o.ID == r.OptionID }); i >= 0 {
		return q.Options[i].named()
	}
	return words(r.Value, q.Options)
}

// named is an option as the user saw it, with what the model calls it.
func (o ShownOption) named() string {
	if o.Value == "" || o.Value == o.Label {
		return o.Label
	}
	return o.Label + " (" + o.Value + ")"
}

// filledIn writes the values of a form, a line for each: first those of its fields, then what else there is.
func filledIn(form json.RawMessage, fields []ShownField) string {
	values := object(form)
	var lines []string
	add := func(name, label string, options []ShownOption) {
		if v, ok := values[name]; ok {
			lines = append(lines, label+": "+words(v, options))
			delete(values, name)
		}
	}
	for _, f := range fields {
		add(f.Name, f.Label, f.Options)
	}
	for _, name := range names(form) {
		add(name, name, nil)
	}
	return strings.Join(lines, "\n")
}

// words is a value as a person would write it; those of options stand as the user saw them.
func words(raw json.RawMessage, options []ShownOption) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "(no answer)"
	}
	switch raw[0] {
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		all := make([]string, len(list))
		for i, v := range list {
			all[i] = words(v, options)
		}
		return strings.Join(all, ", ")
	case '{':
		var b bytes.Buffer
		_ = json.Compact(&b, raw) // it is valid: it came out of a message
		return b.String()
	}
	s, _ := scalar(raw)
	s = strings.TrimSpace(s)
	if i := slices.IndexFunc(options, func(o ShownOption) bool { return o.Value == s }); i >= 0 {
		return options[i].named()
	}
	switch string(raw) {
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	return s
}

// Question finds the question that a reply answers, among the messages before it.
func Question(msgs []message.Message, requestID string) Shown {
	for _, m := range slices.Backward(msgs) {
		if m.Role != message.Tool || m.Name != ToolName {
			continue
		}
		if q, ok := ReadArtifact(m.Artifact); ok && q.RequestID == requestID {
			return q
		}
	}
	return Shown{}
}

// Open returns the questions at the end of the conversation that the user has not answered, oldest first, with the
// message of each.
func Open(msgs []message.Message) (questions []Shown, asked []message.Message) {
	for _, m := range slices.Backward(msgs) {
		if m.Role == message.AI || conversation.IsUser(m) {
			break
		}
		if m.Role != message.Tool || m.Name != ToolName {
			continue
		}
		if q, ok := ReadArtifact(m.Artifact); ok {
			questions, asked = append(questions, q), append(asked, m)
		}
	}
	slices.Reverse(questions)
	slices.Reverse(asked)
	return questions, asked
}
