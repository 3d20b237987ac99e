package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/pudu-ai/pudu/message"
)

// GeminiBody checks a body of generateContent as [Gemini] does its messages, and what only the body shows: each part
// holds one kind of data, the responses of a model's calls are in the one content behind it, as many and of the same
// functions, and a content with calls stands behind a user's. Contents of users may stand side by side.
func GeminiBody(body []byte) error {
	var req struct {
		Contents []geminiContent `json:"contents"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	var msgs []message.Message
	for i, c := range req.Contents {
		more, err := c.read(msgs)
		if err == nil && i > 0 {
			err = allTogether(msgs, more)
		}
		if err != nil {
			return fmt.Errorf("content %d: %w", i, err)
		}
		if n := len(msgs); n > 0 && msgs[n-1].Role == message.Human && more[0].Role == message.Human {
			msgs[n-1].Content = append(msgs[n-1].Content, more[0].Content...)
			more = more[1:]
		}
		msgs = append(msgs, more...)
	}
	return Gemini(msgs)
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text             *string         `json:"text"`
	Thought          bool            `json:"thought"`
	InlineData       json.RawMessage `json:"inlineData"`
	FileData         json.RawMessage `json:"fileData"`
	FunctionCall     *geminiCall     `json:"functionCall"`
	FunctionResponse *geminiCall     `json:"functionResponse"`
}

// geminiCall is a call or, with Response, a response.
type geminiCall struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args"`
	Response json.RawMessage `json:"response"`
}

// read returns what the content says: one answer, or results and then a user's message. before are the messages so far.
func (c *geminiContent) read(before []message.Message) ([]message.Message, error) {
	said := message.Message{Role: message.Human}
	if c.Role == "model" {
		said.Role = message.AI
	} else if c.Role != "user" && c.Role != "function" {
		return nil, fmt.Errorf("role %q", c.Role)
	}
	var results []message.Message
	for i := range c.Parts {
		p := &c.Parts[i]
		kinds := 0
		for _, has := range []bool{p.Text != nil, len(p.InlineData) > 0, len(p.FileData) > 0, p.FunctionCall != nil,
			p.FunctionResponse != nil} {
			if has {
				kinds++
			}
		}
		switch {
		case kinds != 1:
			return nil, fmt.Errorf("part %d holds %d kinds of data", i, kinds)
		case p.Text != nil && p.Thought:
			said.Content = append(said.Content, message.Part{Type: message.PartReasoning, Text: *p.Text})
		case p.Text != nil:
			said.Content = append(said.Content, message.Text(*p.Text))
		case p.FunctionCall != nil && c.Role == "model":
			f := p.FunctionCall
			said.ToolCalls = append(said.ToolCalls, message.ToolCall{ID: strconv.Itoa(len(said.ToolCalls)),
				Name: f.Name, Args: f.Args})
		case p.FunctionResponse != nil && c.Role != "model":
			m, err := p.FunctionResponse.result(before, len(results))
			if err != nil {
				return nil, fmt.Errorf("part %d: %w", i, err)
			}
			results = append(results, m)
		case p.FunctionCall != nil || p.FunctionResponse != nil:
			return nil, fmt.Errorf("part %d has a call or a response in the role %q", i, c.Role)
		default:
			said.Content = append(said.Content, message.Part{Type: message.PartImage, URL: "x"})
		}
	}
	if len(said.Content)+len(said.ToolCalls) > 0 {
		results = append(results, said)
	}
	if len(results) == 0 {
		return nil, errors.New("no parts")
	}
	return results, nil
}

// result is response number n to the answer before. An id, where the call has one too, must be the call's; here the
// place is the id, since both may lack one.
func (f *geminiCall) result(before []message.Message, n int) (message.Message, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(f.Response, &object) != nil || object == nil {
		return message.Message{}, fmt.Errorf("response %s is no object", f.Response)
	}
	if len(before) == 0 {
		return message.Message{}, errors.New("a response without a call")
	}
	return message.Message{Role: message.Tool, ToolCallID: strconv.Itoa(n), Name: f.Name}, nil
}
