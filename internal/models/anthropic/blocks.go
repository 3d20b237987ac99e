package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// add appends a message. The API wants users and assistants to take turns and no empty blocks: neighbours of one role
// become one message, and a message without content is left out.
func (m *Model) add(p *sdk.MessageNewParams, msg *message.Message) error {
	var blocks []sdk.ContentBlockParamUnion
	var err error
	role := sdk.MessageParamRoleUser
	switch msg.Role {
	case message.Human:
		blocks, err = m.parts(msg.Content)
	case message.Tool:
		blocks, err = m.result(msg)
	case message.AI:
		role = sdk.MessageParamRoleAssistant
		blocks = m.assistant(msg)
	}
	if err != nil || len(blocks) == 0 {
		return err
	}
	if n := len(p.Messages); n > 0 && p.Messages[n-1].Role == role {
		p.Messages[n-1].Content = append(p.Messages[n-1].Content, blocks...)
		return nil
	}
	p.Messages = append(p.Messages, sdk.MessageParam{Role: role, Content: blocks})
	return nil
}

// parts are the blocks of a user's message.
func (m *Model) parts(parts []message.Part) ([]sdk.ContentBlockParamUnion, error) {
	var blocks []sdk.ContentBlockParamUnion
	for _, p := range parts {
		switch {
		case p.Type == message.PartText && !blank(p.Text):
			blocks = append(blocks, sdk.NewTextBlock(p.Text))
		case p.Type == message.PartImage:
			img, err := m.image(p.URL)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, sdk.ContentBlockParamUnion{OfImage: img})
		case p.Type == message.PartRaw && len(p.Raw) > 0:
			blocks = append(blocks, param.Override[sdk.ContentBlockParamUnion](exact(p.Raw)))
		}
	}
	return blocks, nil
}

// image takes a data: URL with base64 content, or an address that the API fetches itself.
func (m *Model) image(url string) (*sdk.ImageBlockParam, error) {
	rest, isData := strings.CutPrefix(url, "data:")
	if !isData {
		return &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfURL: &sdk.URLImageSourceParam{URL: url}}}, nil
	}
	kind, data, ok := strings.Cut(rest, ";base64,")
	if !ok {
		return nil, m.origin.Error(model.ClassBadRequest, nil, "an image's data: URL has no base64 content; give it as data:image/png;base64,...")
	}
	return &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{
		Data: data, MediaType: sdk.Base64ImageSourceMediaType(kind)}}}, nil
}

// result is a tool's answer, text and images.
func (m *Model) result(msg *message.Message) ([]sdk.ContentBlockParamUnion, error) {
	r := sdk.ToolResultBlockParam{ToolUseID: callID(msg.ToolCallID)}
	if msg.Status == message.StatusError {
		r.IsError = param.NewOpt(true)
	}
	for _, p := range msg.Content {
		switch {
		case p.Type == message.PartText && !blank(p.Text):
			r.Content = append(r.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: p.Text}})
		case p.Type == message.PartImage:
			img, err := m.image(p.URL)
			if err != nil {
				return nil, err
			}
			r.Content = append(r.Content, sdk.ToolResultBlockParamContentUnion{OfImage: img})
		}
	}
	return []sdk.ContentBlockParamUnion{{OfToolResult: &r}}, nil
}

// assistant are the blocks of an answer: thinking that this vendor signed, text, calls.
func (m *Model) assistant(msg *message.Message) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	ours := m.made(msg)
	for _, p := range msg.Content {
		switch {
		case p.Type == message.PartText && !blank(p.Text):
			blocks = append(blocks, sdk.NewTextBlock(p.Text))
		case p.Type == message.PartReasoning && ours && p.Redacted != "":
			blocks = append(blocks, sdk.NewRedactedThinkingBlock(p.Redacted))
		case p.Type == message.PartReasoning && ours && p.Signature != "":
			blocks = append(blocks, sdk.NewThinkingBlock(p.Signature, p.Text))
		}
	}
	for _, c := range msg.ToolCalls {
		args := exact(c.Args)
		if args == "" {
			args = "{}"
		}
		blocks = append(blocks, sdk.NewToolUseBlock(callID(c.ID), args, c.Name))
	}
	for _, c := range msg.InvalidToolCalls { // the input must be an object; the model still sees what it wrote
		args := append(rawjson.AppendString([]byte(`{"invalid_arguments":`), c.Args), '}')
		blocks = append(blocks, sdk.NewToolUseBlock(callID(c.ID), exact(args), c.Name))
	}
	return blocks
}

// made reports whether this provider made the message, as far as it tells: a signature is good for its vendor only.
func (m *Model) made(msg *message.Message) bool {
	var by string
	return json.Unmarshal(msg.ResponseMetadata["model_provider"], &by) != nil || by == m.cfg.Name
}

// callID replaces what the API does not allow in an id; calls that another vendor made may have it.
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
