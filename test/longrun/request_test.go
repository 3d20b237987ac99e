//go:build linux

package longrun

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"slices"
	"strings"
)

// modelRequest is a request to the model, as it came.
type modelRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
	Choice   json.RawMessage   `json:"tool_choice"`
}

type wireMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	CallID string `json:"tool_call_id"`
}

type wirePart struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Image struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// Bounds of what vendors take.
const (
	largestImage  = 1568 // pixels of a side
	tokensOfImage = 1000
)

// faults lists what a strict provider would refuse: the roles, the order of calls and results, the contents.
func (r *modelRequest) faults() (list []string) {
	fault := func(i int, format string, args ...any) {
		list = append(list, fmt.Sprintf("message %d: ", i)+fmt.Sprintf(format, args...))
	}
	var waiting []string // calls without a result yet
	last := ""
	for i, raw := range r.Messages {
		var m wireMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			fault(i, "%v", err)
		}
		if (i == 0) != (m.Role == "system") {
			fault(i, "a %s message here", m.Role)
		}
		if m.Role != "tool" && len(waiting) > 0 {
			fault(i, "the calls %v have no result", waiting)
			waiting = nil
		}
		switch m.Role {
		case "system":
		case "user":
			if err := checkContent(m.Content); err != nil {
				fault(i, "%v", err)
			}
		case "assistant":
			if len(m.Calls) == 0 && len(bytes.Trim(m.Content, `" `)) == 0 ||
				len(m.Calls) == 0 && string(m.Content) == "null" {
				fault(i, "an answer that says nothing")
			}
			for _, c := range m.Calls {
				object := strings.HasPrefix(c.Function.Arguments, "{") && json.Valid([]byte(c.Function.Arguments))
				if c.ID == "" || c.Type != "function" || c.Function.Name == "" || !object {
					fault(i, "the call %+v", c)
				}
				waiting = append(waiting, c.ID)
			}
		case "tool":
			if len(waiting) == 0 || waiting[0] != m.CallID {
				fault(i, "the result of %s where %v are waited for", m.CallID, waiting)
			}
			waiting = waiting[min(1, len(waiting)):]
			if len(m.Content) < 3 || m.Content[0] != '"' {
				fault(i, "the content %.40s", m.Content)
			}
		default:
			fault(i, "the role %q", m.Role)
		}
		last = m.Role
	}
	if len(waiting) > 0 || last != "user" && last != "tool" {
		fault(len(r.Messages), "it ends with %q, open calls: %v", last, waiting)
	}
	return list
}

// checkContent checks the content of a user's message: a text, or parts of which each image can be shown.
func checkContent(raw json.RawMessage) error {
	if len(raw) > 2 && raw[0] == '"' {
		return nil
	}
	var list []wirePart
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 {
		return fmt.Errorf("the content %.40s", raw)
	}
	for _, p := range list {
		switch {
		case p.Type == "text" && p.Text != "":
		case p.Type == "image_url":
			_, data, _ := strings.Cut(p.Image.URL, ";base64,")
			src := base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))
			c, _, err := image.DecodeConfig(src)
			if err != nil {
				return fmt.Errorf("the image %.40s: %w", p.Image.URL, err)
			}
			if max(c.Width, c.Height) > largestImage {
				return fmt.Errorf("an image of %d×%d", c.Width, c.Height)
			}
		default:
			return fmt.Errorf("a part of type %q", p.Type)
		}
	}
	return nil
}

// images counts the images that are sent.
func (r *modelRequest) images() (n int) {
	for _, raw := range r.Messages {
		n += bytes.Count(raw, []byte(`"url":"data:image/`))
	}
	return n
}

// size is how many tokens the model counts for the request.
func (r *modelRequest) size() int {
	n := len(r.Tools)
	for _, raw := range r.Messages {
		var m wireMessage
		var list []wirePart
		if json.Unmarshal(raw, &m) == nil && json.Unmarshal(m.Content, &list) == nil {
			for _, p := range list {
				n -= len(p.Image.URL)
			}
		}
		n += len(raw)
	}
	return n/4 + tokensOfImage*r.images()
}

// continues reports whether the request begins with all of an earlier one, byte for byte.
func (r *modelRequest) continues(was *modelRequest) bool {
	n := len(was.Messages)
	return n <= len(r.Messages) &&
		slices.EqualFunc(was.Messages, r.Messages[:n], func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// count is how often a text stands in the messages.
func (r *modelRequest) count(text string) (n int) {
	for _, raw := range r.Messages {
		n += bytes.Count(raw, []byte(text))
	}
	return n
}

// lastCalls are the ids of the calls in the newest answer.
func (r *modelRequest) lastCalls() (ids []string) {
	for _, raw := range slices.Backward(r.Messages) {
		var m wireMessage
		if json.Unmarshal(raw, &m) == nil && m.Role == "assistant" {
			for _, c := range m.Calls {
				ids = append(ids, c.ID)
			}
			return ids
		}
	}
	return nil
}
