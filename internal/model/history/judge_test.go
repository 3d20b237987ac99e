package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/message"
)

// The checks below are of messages that an encoder writes one by one as they are. Each returns the first breach. They
// are written from knowledge of the pages that they name, without the pages at hand, and where it is unsure they are
// strict: that Mistral wants a user first and refuses images in results; that Anthropic's limit for names of functions
// still is 64, and that it refuses prefilled answers for each model; that Gemini validates names inside of contents,
// and refuses answers side by side; that all want results in the order of the calls, and whatever was true of the
// oldest API in use.

// OpenAI checks what platform.openai.com/docs/api-reference/chat/create and the guide "Function calling" demand: calls
// are followed by a tool message each, ids have at most 64 characters (said by the API's error), functions are named
// ^[a-zA-Z0-9_-]{1,64}$, arguments are JSON, only users show images, names of speakers have none of space < | \ / >.
func OpenAI(msgs []message.Message) error {
	s := spec{idMax: 64, tool: word64, images: "human", speaker: regexp.MustCompile(`^[^\s<|\\/>]{1,64}$`),
		raw: []string{"file", "input_audio"}}
	return s.check(msgs)
}

// Anthropic checks docs.claude.com: "Messages" (a first message, none empty, roles), "How to implement tool use"
// (results directly behind the calls, tool_use ids of ^[a-zA-Z0-9_-]+$ and unique, names of ^[a-zA-Z0-9_-]{1,64}$),
// "Vision" (images of users and in results) and the refusal of prefilled answers by the newer models.
func Anthropic(msgs []message.Message) error {
	s := spec{system: true, first: true, last: true, noBlank: true, id: regexp.MustCompile(`^[a-zA-Z0-9_-]+$`),
		unique: true,
		tool:   word64, images: "human tool", raw: []string{"document"}}
	return s.check(msgs)
}

// Gemini checks ai.google.dev: "Function calling" (as many responses as calls, directly behind; a call follows a user
// or a response), the reference of Content (parts are not empty, roles user and model) and of FunctionDeclaration
// (names).
func Gemini(msgs []message.Message) error {
	s := spec{system: true, first: true, last: true, noBlank: true, alternate: true,
		tool: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`), images: "human tool", raw: []string{}}
	return s.check(msgs)
}

// Mistral checks docs.mistral.ai "Chat completion" and "Function calling", and the messages that the open validator of
// mistral-common gives: order of roles (no user behind a tool), the last message, ids of nine letters and digits,
// names, as many results as calls, answers with content or calls.
func Mistral(msgs []message.Message) error {
	s := spec{system: true, first: true, last: true, noBlank: true, answerResults: true,
		id:     regexp.MustCompile(`^[a-zA-Z0-9]{9}$`),
		unique: true, tool: word64, images: "human", raw: []string{"thinking"}}
	return s.check(msgs)
}

var word64 = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// spec is what a vendor demands besides what all do.
type spec struct {
	system, first, last, noBlank, alternate, answerResults, unique bool

	idMax             int
	id, tool, speaker *regexp.Regexp
	images            string   // the roles that may show them
	raw               []string // the types known; nil: any
}

// check goes through the list with what the last speaker left open.
func (s *spec) check(msgs []message.Message) error {
	var due []message.ToolCall
	seen := map[string]bool{}
	begun := false
	for i, m := range msgs {
		before := message.Role("")
		if i > 0 {
			before = msgs[i-1].Role
		}
		if err := s.order(m.Role, before, begun, len(due)); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if err := s.content(&m); err != nil {
			return fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
		begun = begun || m.Role != message.System
		switch m.Role {
		case message.AI:
			if !s.unique {
				clear(seen)
			}
			if err := s.calls(&m, seen); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			due = m.ToolCalls
		case message.Tool:
			if m.ToolCallID != due[0].ID || m.Name != due[0].Name {
				return fmt.Errorf("message %d: result of %q (%s), want one of %q (%s)", i, m.ToolCallID, m.Name,
					due[0].ID, due[0].Name)
			}
			due = due[1:]
		}
	}
	if len(due) > 0 {
		return fmt.Errorf("%d calls have no result at the end", len(due))
	}
	if n := len(msgs); s.last && (n == 0 || msgs[n-1].Role != message.Human && msgs[n-1].Role != message.Tool) {
		return errors.New("the last message is neither a user's nor a result")
	}
	return nil
}

func (s *spec) order(role, before message.Role, begun bool, due int) error {
	switch {
	case role == message.Tool && due == 0:
		return errors.New("a result without a call")
	case role != message.Tool && due > 0:
		return fmt.Errorf("%d calls have no result", due)
	case role == message.System && s.system && begun:
		return errors.New("a system message behind others")
	case role == message.AI && s.first && !begun:
		return errors.New("the first message is no user's")
	case s.alternate && role == before && (role == message.AI || role == message.Human):
		return errors.New("two messages of one role")
	case s.answerResults && role == message.Human && before == message.Tool:
		return errors.New("a user behind a tool")
	case role != message.System && role != message.Human && role != message.AI && role != message.Tool:
		return fmt.Errorf("role %q", role)
	}
	return nil
}

func (s *spec) content(m *message.Message) error {
	full := len(m.ToolCalls) > 0 || m.Role == message.Tool
	for _, p := range m.Content {
		switch p.Type {
		case message.PartText:
			if strings.TrimSpace(p.Text) != "" {
				full = true
			} else if s.noBlank && m.Role != message.AI {
				return errors.New("a blank text")
			}
		case message.PartImage:
			full = true
			if !strings.Contains(s.images, string(m.Role)) {
				return errors.New("an image")
			}
		case message.PartRaw:
			full = true
			var block struct {
				Type string `json:"type"`
			}
			if err := json.Unmarshal(p.Raw, &block); err != nil || s.raw != nil && !slices.Contains(s.raw, block.Type) {
				return fmt.Errorf("a block of type %q", block.Type)
			}
		}
	}
	if s.noBlank && !full {
		return errors.New("no content")
	}
	if s.speaker != nil && m.Role != message.Tool && m.Name != "" && !s.speaker.MatchString(m.Name) {
		return fmt.Errorf("speaker %q", m.Name)
	}
	return nil
}

func (s *spec) calls(m *message.Message, seen map[string]bool) error {
	if len(m.InvalidToolCalls) > 0 {
		return errors.New("an invalid call")
	}
	for _, c := range m.ToolCalls {
		if c.ID == "" || s.idMax > 0 && len(c.ID) > s.idMax || s.id != nil && !s.id.MatchString(c.ID) {
			return fmt.Errorf("call id %q", c.ID)
		}
		if seen[c.ID] {
			return fmt.Errorf("call id %q twice", c.ID)
		}
		seen[c.ID] = true
		if !s.tool.MatchString(c.Name) {
			return fmt.Errorf("tool %q", c.Name)
		}
		var object map[string]json.RawMessage
		if len(c.Args) > 0 && (json.Unmarshal(c.Args, &object) != nil || object == nil) {
			return fmt.Errorf("arguments %s", c.Args)
		}
	}
	return nil
}
