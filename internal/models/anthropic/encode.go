package anthropic

import (
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// encode builds the request. It fails only for an image that the API cannot take.
func (m *Model) encode(req *model.Request) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: m.cfg.Model, System: system(req), Tools: tools(req.Tools)}
	if len(p.Tools) > 0 && req.Settings.NoTools {
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	}
	m.settings(&p, req.Settings)
	for i := range req.Messages {
		if err := m.add(&p, &req.Messages[i]); err != nil {
			return p, err
		}
	}
	if !m.cfg.NoCache {
		markCache(&p)
	}
	return p, nil
}

// system is the system prompt and every system message, each a block: the API has no system messages elsewhere.
func system(req *model.Request) []sdk.TextBlockParam {
	var blocks []sdk.TextBlockParam
	add := func(text string) {
		if !blank(text) {
			blocks = append(blocks, sdk.TextBlockParam{Text: text})
		}
	}
	add(req.System)
	for i := range req.Messages {
		if req.Messages[i].Role == message.System {
			add(req.Messages[i].Text())
		}
	}
	return blocks
}

// exact is JSON that is sent as it is: the SDK would reformat a json.RawMessage.
type exact string

// MarshalJSON returns the JSON itself.
func (e exact) MarshalJSON() ([]byte, error) { return []byte(e), nil }

func tools(list []model.Tool) []sdk.ToolUnionParam {
	var out []sdk.ToolUnionParam
	for _, t := range list {
		schema := exact(t.Parameters)
		if schema == "" {
			schema = `{"type":"object","properties":{}}`
		}
		out = append(out, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
			Name: t.Name, Description: param.NewOpt(t.Description),
			InputSchema: param.Override[sdk.ToolInputSchemaParam](schema)}})
	}
	return out
}

// settings merges the request's settings with the configured ones.
func (m *Model) settings(p *sdk.MessageNewParams, s model.Settings) {
	def := m.cfg.Settings
	if s.Temperature == nil {
		s.Temperature = def.Temperature
	}
	if s.Thinking == nil {
		s.Thinking = def.Thinking
	}
	if s.Effort == "" {
		s.Effort = def.Effort
	}
	p.MaxTokens = int64(firstPositive(s.MaxTokens, def.MaxTokens, DefaultMaxTokens))
	switch s.Effort {
	case "":
	case "minimal":
		p.OutputConfig.Effort = sdk.OutputConfigEffortLow
	default:
		p.OutputConfig.Effort = sdk.OutputConfigEffort(s.Effort)
	}
	on := s.Thinking != nil && *s.Thinking
	switch {
	case on:
		m.think(p)
	case s.Thinking != nil:
		p.Thinking = sdk.ThinkingConfigParamUnion{OfDisabled: &sdk.ThinkingConfigDisabledParam{}}
	}
	if s.Temperature != nil && !on {
		p.Temperature = param.NewOpt(*s.Temperature)
	}
}

// think turns thinking on. The budget is given as plain JSON: for its typed form the SDK prints a warning to stderr.
func (m *Model) think(p *sdk.MessageNewParams) {
	if m.cfg.ThinkingBudget == Adaptive {
		p.Thinking = sdk.ThinkingConfigParamUnion{OfAdaptive: &sdk.ThinkingConfigAdaptiveParam{}}
		return
	}
	p.MaxTokens = max(p.MaxTokens, 2*minThinking)
	budget := int64(firstPositive(m.cfg.ThinkingBudget, DefaultThinkingBudget))
	budget = max(minThinking, min(budget, p.MaxTokens/2))
	raw := fmt.Appendf(nil, `{"budget_tokens":%d,"type":"enabled"}`, budget)
	p.Thinking = param.Override[sdk.ThinkingConfigParamUnion](exact(raw))
}

func firstPositive(list ...int) int {
	for _, n := range list {
		if n > 0 {
			return n
		}
	}
	return 0
}

// markCache sets the three marks up to which the provider keeps the prompt: tools and system, which seldom change,
// and the end of the conversation.
func markCache(p *sdk.MessageNewParams) {
	mark := sdk.NewCacheControlEphemeralParam()
	if n := len(p.Tools); n > 0 {
		*p.Tools[n-1].GetCacheControl() = mark
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = mark
	}
	if n := len(p.Messages); n > 0 {
		blocks := p.Messages[n-1].Content
		if c := blocks[len(blocks)-1].GetCacheControl(); c != nil { // thinking blocks take none
			*c = mark
		}
	}
}
