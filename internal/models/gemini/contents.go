package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
)

// The roles of the API. What tools return is said by the user.
const (
	roleUser  = "user"
	roleModel = "model"
)

const (
	// keySignature is where a call's Extra keeps its thought signature, as JSON.
	keySignature = "thought_signature"
	// keySignatures is where additional_kwargs keep the thought signatures of an answer's text: an object from the
	// number of the part in the message's content to the signature.
	keySignatures = "gemini_thought_signatures"
	// madeUp begins the ids of calls to which the API gave none. They are not sent to it.
	madeUp = "gemini_call_"
	// skipSignature is what the API's documentation says to send with a call that the model did not make itself: Gemini
	// 3 refuses a history whose calls have no signature.
	skipSignature = `"skip_thought_signature_validator"`
)

// contents writes the conversation. User and model take turns, so messages of one role become one content; a message
// without content is left out.
type contents struct {
	m    *Model
	b    []byte
	role string // of the content that is open
	// media are the images of tool results. They wait until the results of the turn are complete, which must stand
	// together.
	media []message.Part
}

func (c *contents) add(msg *message.Message) error {
	if msg.Role != message.Tool {
		if err := c.flush(); err != nil {
			return err
		}
	}
	switch msg.Role {
	case message.AI:
		c.answer(msg)
	case message.Tool:
		c.result(msg)
	case message.System:
		c.text(roleUser, msg.Text())
	case message.Human:
		return c.parts(msg.Content)
	}
	return nil
}

// end closes the last content.
func (c *contents) end() error {
	err := c.flush()
	if c.role != "" {
		c.b = append(c.b, "]}"...)
	}
	return err
}

// flush writes the media that wait.
func (c *contents) flush() error {
	media := c.media
	c.media = nil
	return c.parts(media)
}

// open makes room for the next part of a role.
func (c *contents) open(role string) {
	if c.role == role {
		c.b = append(c.b, ',')
		return
	}
	if c.role != "" {
		c.b = append(c.b, "]},"...)
	}
	c.role = role
	c.b = append(append(append(c.b, `{"role":"`...), role...), `","parts":[`...)
}

// text writes a part of text, unless it is blank.
func (c *contents) text(role, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	c.open(role)
	c.b = append(appendText(c.b, text), '}')
}

// parts writes what a user says and shows.
func (c *contents) parts(parts []message.Part) error {
	for _, p := range parts {
		switch p.Type {
		case message.PartText:
			c.text(roleUser, p.Text)
		case message.PartImage, message.PartRaw:
			raw, err := c.m.media(&p)
			if err != nil {
				return err
			}
			if raw != nil {
				c.open(roleUser)
				c.b = append(c.b, raw...)
			}
		}
	}
	return nil
}

// answer writes what a model said: its thoughts, if they are this vendor's, its text and its calls, each with the
// signature that it came with.
func (c *contents) answer(msg *message.Message) {
	signatures, _ := rawjson.Members(msg.Kwargs[keySignatures])
	by, known := rawjson.String(msg.ResponseMetadata["model_provider"])
	ours := by == c.m.cfg.Name
	last := ""
	for i, p := range msg.Content {
		signature := signatures[strconv.Itoa(i)]
		switch {
		case p.Type == message.PartText && (p.Text != "" || isText(signature)):
			c.open(roleModel)
			c.b = appendText(c.b, p.Text)
			c.sign(signature)
		case p.Type == message.PartReasoning && p.Redacted == "" && (ours || !known && p.Signature != ""):
			c.open(roleModel)
			c.b = append(appendText(c.b, p.Text), `,"thought":true`...)
			if p.Signature != "" {
				c.sign(rawjson.AppendString(nil, p.Signature))
				continue
			}
			c.b = append(c.b, '}')
		default:
			continue
		}
		last = string(p.Type)
	}
	// A signature that came when the answer's text had ended is in a part without text.
	if signature := signatures[strconv.Itoa(len(msg.Content))]; isText(signature) && last != "" {
		c.open(roleModel)
		c.b = appendText(c.b, "")
		c.sign(signature)
	}
	c.calls(msg)
}

// calls writes an answer's calls. Of calls made at once only the first one is signed.
func (c *contents) calls(msg *message.Message) {
	needed := c.m.family.signed
	for i := range msg.ToolCalls {
		needed = needed && signatureOf(msg.ToolCalls[i].Extra) == nil
	}
	for i := range msg.ToolCalls {
		call := &msg.ToolCalls[i]
		signature := signatureOf(call.Extra)
		if needed {
			signature, needed = json.RawMessage(skipSignature), false
		}
		c.call(call.ID, call.Name, call.Args, signature)
	}
}

// signatureOf finds a call's signature, also where the vendor's OpenAI-compatible endpoint puts it; nil if it has none.
func signatureOf(extra message.Fields) json.RawMessage {
	if raw := extra[keySignature]; isText(raw) {
		return raw
	}
	content, _ := rawjson.Members(extra["extra_content"])
	google, _ := rawjson.Members(content["google"])
	if raw := google[keySignature]; isText(raw) {
		return raw
	}
	return nil
}

func (c *contents) call(id, name string, args, signature json.RawMessage) {
	c.open(roleModel)
	c.b = append(c.b, `{"functionCall":{`...)
	c.id(id)
	c.b = rawjson.AppendString(wire.AppendKey(c.b, "name"), name)
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	c.b = append(append(wire.AppendKey(c.b, "args"), args...), '}')
	c.sign(signature)
}

// result writes a tool's answer. What it shows comes behind the results.
func (c *contents) result(msg *message.Message) {
	key := "output"
	if msg.Status == message.StatusError {
		key = "error"
	}
	c.open(roleUser)
	c.b = append(c.b, `{"functionResponse":{`...)
	c.id(msg.ToolCallID)
	c.b = rawjson.AppendString(wire.AppendKey(c.b, "name"), msg.Name)
	c.b = append(wire.AppendKey(c.b, "response"), '{')
	c.b = rawjson.AppendString(wire.AppendKey(c.b, key), msg.Text())
	c.b = append(c.b, "}}}"...)
	for _, p := range msg.Content {
		if p.Type == message.PartImage || p.Type == message.PartRaw {
			c.media = append(c.media, p)
		}
	}
}

// id writes the id of a call that the API, or another vendor's, gave.
func (c *contents) id(id string) {
	if id != "" && !strings.HasPrefix(id, madeUp) {
		c.b = rawjson.AppendString(wire.AppendKey(c.b, "id"), id)
	}
}

// sign ends a part, with a signature if there is one.
func (c *contents) sign(signature json.RawMessage) {
	if isText(signature) {
		c.b = append(wire.AppendKey(c.b, "thoughtSignature"), signature...)
	}
	c.b = append(c.b, '}')
}

// appendText begins a part of text.
func appendText(b []byte, text string) []byte {
	return rawjson.AppendString(append(b, `{"text":`...), text)
}

// isText reports whether raw is a JSON string with something in it.
func isText(raw json.RawMessage) bool { return len(raw) > len(`""`) && raw[0] == '"' }
