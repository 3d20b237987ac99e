package probe

import (
	"context"
	"encoding/json"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// toggle is how a server is told to think or not, as fields of the request's body.
type toggle struct{ on, off string }

// toggles are those in use, the most common first: vLLM, SGLang and llama.cpp pass arguments to the chat template; Qwen
// has a field of its own; DeepSeek, GLM, Doubao and Kimi share one; Ollama and Gemini's gateway take an effort.
func toggles() []toggle {
	return []toggle{
		{`{"chat_template_kwargs":{"enable_thinking":true}}`, `{"chat_template_kwargs":{"enable_thinking":false}}`},
		{`{"enable_thinking":true}`, `{"enable_thinking":false}`},
		{`{"thinking":{"type":"enabled"}}`, `{"thinking":{"type":"disabled"}}`},
		{`{"reasoning_effort":"medium"}`, `{"reasoning_effort":"none"}`},
	}
}

// puzzle is worth a thought, and ends in a call, since thoughts beside calls are those that must be sent back.
const puzzle = "Which number is larger, 9.11 or 9.9? Think about it, then hand in the larger one with the tool."

func submit() model.Tool {
	return model.Tool{Name: "submit", Description: "Hands in an answer.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],` +
			`"additionalProperties":false}`)}
}

// thought reports whether an answer has traces of thinking: its text, a sealed form of it, or only its tokens.
func thought(a *answer) bool {
	for _, p := range a.Content {
		if p.Type == message.PartReasoning {
			return true
		}
	}
	return a.Usage != nil && a.Usage.Reasoning > 0
}

func (p *prober) thinking(ctx context.Context) finding {
	req := ask(puzzle, submit())
	req.Settings.Thinking = new(true)
	on, err := p.withEffort(ctx, &req)
	if err != nil && !refused(err) {
		return lost(err)
	}
	if err != nil || !thought(&on) {
		return p.withoutThoughts(ctx, err)
	}
	if !p.cfg.Declared.Thinking {
		p.option("supports_thinking", true, "it thinks when it is asked to")
	}
	echoed := req
	echoed.Messages = append(echoed.Messages[:1:1],
		withResults(&on, 1, func(message.ToolCall) string { return "accepted" })...)
	if len(on.ToolCalls)+len(on.InvalidToolCalls) == 0 {
		echoed.Messages = append(echoed.Messages, human("Thank you. Answer with the word done."))
	}
	if _, err := p.call(ctx, echoed, longRoom); err != nil {
		f := lost(err)
		if refused(err) {
			f.detail = "its own thoughts are not taken back: " + f.detail
		}
		return f
	}
	return p.withThinkingOff(ctx)
}

// withEffort asks with an effort if the configuration says that the model knows one, and without it if it does not.
func (p *prober) withEffort(ctx context.Context, req *model.Request) (answer, error) {
	if !p.cfg.Declared.Effort {
		return p.call(ctx, *req, longRoom)
	}
	req.Settings.Effort = "low"
	a, err := p.call(ctx, *req, longRoom)
	if err == nil || !refused(err) {
		return a, err
	}
	req.Settings.Effort = ""
	a, errPlain := p.call(ctx, *req, longRoom)
	if errPlain == nil {
		p.option("supports_reasoning_effort", false, "an effort is refused: "+describe(err))
	}
	return a, errPlain
}

// withoutThoughts is for a model that was to think and did not, or that refused to.
func (p *prober) withoutThoughts(ctx context.Context, refusal error) finding {
	for _, t := range toggles() {
		if a, ok := p.vary(ctx, t.on, puzzle, submit()); ok && thought(&a) {
			p.option("supports_thinking", true, "it thinks with this switch")
			p.option("when_thinking_enabled", extraBody(t.on), "the switch that turned its thinking on")
			return fail("thinks only with %s, which the configuration does not send", t.on)
		}
	}
	detail := "shows no thoughts"
	if refusal != nil {
		detail = "will not think: " + describe(refusal)
	}
	if !p.cfg.Declared.Thinking {
		return none("%s", detail)
	}
	if e := model.AsError(refusal); e == nil || mentions(e, "think", "reason") { // else something else was refused
		p.option("supports_thinking", false, detail)
	}
	return fail("%s", detail)
}

// withThinkingOff looks whether a model that thinks can also leave it.
func (p *prober) withThinkingOff(ctx context.Context) finding {
	const question = "Which number is larger, 9.11 or 9.9? Answer with the number alone."
	req := ask(question)
	req.Settings.Thinking = new(false)
	off, err := p.call(ctx, req, shortRoom)
	switch {
	case err != nil && !refused(err):
		return lost(err)
	case err == nil && !thought(&off):
		return pass("on, sent back, and off")
	}
	for _, t := range toggles() {
		if a, ok := p.vary(ctx, t.off, question); ok && !thought(&a) {
			p.option("when_thinking_disabled", extraBody(t.off), "the switch that turned its thinking off")
			return fail("goes on thinking when it should not; %s stops it", t.off)
		}
	}
	return pass("on and sent back; it cannot be turned off")
}

// vary asks the same model with more fields in the body. It reports false if there is no such model, or no answer.
func (p *prober) vary(ctx context.Context, body, text string, tools ...model.Tool) (answer, bool) {
	if p.cfg.Variant == nil {
		return answer{}, false
	}
	m, err := p.cfg.Variant(json.RawMessage(body))
	if err != nil {
		return answer{}, false
	}
	a, err := p.callOn(ctx, m, ask(text, tools...), longRoom)
	return a, err == nil
}

// extraBody is the value of a when_thinking_ key.
func extraBody(body string) json.RawMessage { return json.RawMessage(`{"extra_body":` + body + `}`) }
