package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/message"
)

// OpenAIBody checks a body of chat completions as [OpenAI] does its messages.
func OpenAIBody(body []byte) error { return checkChat(body, OpenAI) }

// MistralBody is [OpenAIBody] with the demands of [Mistral].
func MistralBody(body []byte) error { return checkChat(body, Mistral) }

// checkChat reads the messages back from the wire, whose shape must be the documented one, and checks them.
func checkChat(body []byte, check func([]message.Message) error) error {
	var req struct {
		Messages []chatMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	if len(req.Messages) == 0 {
		return errors.New("no messages")
	}
	var msgs []message.Message
	names := map[string]string{}
	for i := range req.Messages {
		m, err := req.Messages[i].read(names)
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		msgs = append(msgs, m)
	}
	return check(msgs)
}

type chatMessage struct {
	Role       string          `json:"role"`
	Name       string          `json:"name"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// read returns the message. names are the tools of the calls so far, by id: a result does not tell its own.
func (w *chatMessage) read(names map[string]string) (message.Message, error) {
	roles := map[string]message.Role{"system": message.System, "developer": message.System, "user": message.Human,
		"assistant": message.AI, "tool": message.Tool}
	m := message.Message{Role: roles[w.Role], Name: w.Name, ToolCallID: w.ToolCallID}
	if m.Role == "" {
		return m, fmt.Errorf("role %q", w.Role)
	}
	if m.Role == message.Tool {
		m.Name = names[w.ToolCallID]
	}
	for _, c := range w.ToolCalls {
		if c.Type != "function" {
			return m, fmt.Errorf("call of type %q", c.Type)
		}
		names[c.ID] = c.Function.Name
		m.ToolCalls = append(m.ToolCalls,
			message.ToolCall{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
	}
	if len(w.Content) == 0 || string(w.Content) == "null" {
		if m.Role != message.AI || len(m.ToolCalls) == 0 {
			return m, errors.New("content is null")
		}
		return m, nil
	}
	var err error
	m.Content, err = readContent(w.Content, "image_url")
	return m, err
}

// readContent reads a text, of which an empty one is no content, or a list of blocks; what is neither text nor image
// becomes a raw part.
func readContent(raw json.RawMessage, image string) ([]message.Part, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil, nil
		}
		return []message.Part{message.Text(text)}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("content is neither a text nor a list: %s", raw)
	}
	var parts []message.Part
	for _, one := range list {
		var b struct{ Type, Text string }
		if err := json.Unmarshal(one, &b); err != nil {
			return nil, fmt.Errorf("block %s: %w", one, err)
		}
		switch b.Type {
		case "text":
			parts = append(parts, message.Text(b.Text))
		case image:
			parts = append(parts, message.Part{Type: message.PartImage, URL: "x"})
		default:
			parts = append(parts, message.Part{Type: message.PartRaw, Raw: one})
		}
	}
	return parts, nil
}

// AnthropicBody checks a body of the Messages API as [Anthropic] does its messages, and what only the body shows: all
// results of an answer are in the one message behind it, before anything else in it; thinking is signed; no message is
// an empty list.
func AnthropicBody(body []byte) error {
	var req struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	var msgs []message.Message
	names := map[string]string{}
	for i, w := range req.Messages {
		blocks, err := anthropicBlocks(w.Content)
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		var more []message.Message
		switch w.Role {
		case "user":
			more, err = anthropicUser(blocks, names)
		case "assistant":
			more, err = anthropicAnswer(blocks, names)
		default:
			err = fmt.Errorf("role %q", w.Role)
		}
		if err == nil && i > 0 {
			err = allTogether(msgs, more)
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		msgs = append(msgs, more...)
	}
	return Anthropic(msgs)
}

// allTogether wants the results of the calls before in what comes with the next message, all of them.
func allTogether(before, next []message.Message) error {
	results := 0
	for results < len(next) && next[results].Role == message.Tool {
		results++
	}
	if last := before[len(before)-1]; len(last.ToolCalls) != results {
		return fmt.Errorf("%d results for %d calls in the message before", results, len(last.ToolCalls))
	}
	return nil
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`

	raw json.RawMessage
}

func anthropicBlocks(raw json.RawMessage) ([]anthropicBlock, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []anthropicBlock{{Type: "text", Text: text}}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 {
		return nil, fmt.Errorf("content %s", raw)
	}
	blocks := make([]anthropicBlock, len(list))
	for i, one := range list {
		if err := json.Unmarshal(one, &blocks[i]); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		blocks[i].raw = one
	}
	return blocks, nil
}

func anthropicUser(blocks []anthropicBlock, names map[string]string) (out []message.Message, err error) {
	said := message.Message{Role: message.Human}
	for _, b := range blocks {
		switch b.Type {
		case "tool_result":
			if len(said.Content) > 0 {
				return nil, errors.New("a tool_result behind other blocks")
			}
			m := message.Message{Role: message.Tool, ToolCallID: b.ToolUseID, Name: names[b.ToolUseID]}
			if len(b.Content) > 0 {
				if m.Content, err = readContent(b.Content, "image"); err != nil {
					return nil, err
				}
			}
			out = append(out, m)
		case "text":
			said.Content = append(said.Content, message.Text(b.Text))
		case "image":
			said.Content = append(said.Content, message.Part{Type: message.PartImage, URL: "x"})
		default:
			said.Content = append(said.Content, message.Part{Type: message.PartRaw, Raw: b.raw})
		}
	}
	if len(said.Content) > 0 {
		out = append(out, said)
	}
	return out, nil
}

func anthropicAnswer(blocks []anthropicBlock, names map[string]string) ([]message.Message, error) {
	m := message.Message{Role: message.AI}
	for _, b := range blocks {
		switch {
		case b.Type == "text":
			m.Content = append(m.Content, message.Text(b.Text))
		case b.Type == "thinking" && b.Signature != "", b.Type == "redacted_thinking" && b.Data != "":
			m.Content = append(m.Content, message.Part{Type: message.PartReasoning, Text: b.Thinking,
				Signature: b.Signature, Redacted: b.Data})
		case b.Type == "tool_use":
			if !strings.HasPrefix(string(b.Input), "{") {
				return nil, fmt.Errorf("input %s", b.Input)
			}
			names[b.ID] = b.Name
			m.ToolCalls = append(m.ToolCalls, message.ToolCall{ID: b.ID, Name: b.Name, Args: b.Input})
		default:
			return nil, fmt.Errorf("block %s", b.raw)
		}
	}
	return []message.Message{m}, nil
}
