package calls

import (
	"encoding/json"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/message"
)

// The parts of a request.
const (
	partSystem  = "system"
	partTools   = "tools"
	partHistory = "history"
	partResults = "results"
	partImages  = "images"
)

// partsOf says what a request is made of. The tokens are a guess; their sum is that for the whole request.
func partsOf(req *rebuilt) []Part {
	system := Part{Name: partSystem, Bytes: len(req.frame.System), Tokens: tokens.Text(req.frame.System)}
	if system.Bytes > 0 {
		system.Count = 1
	}
	tools := Part{Name: partTools, Count: len(req.frame.Tools), Tokens: tokens.Fixed("", req.frame.Tools)}
	for _, t := range req.frame.Tools {
		tools.Bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	history, results, images := Part{Name: partHistory}, Part{Name: partResults}, Part{Name: partImages}
	for i := range req.messages {
		m := req.messages[i]
		to := &history
		if m.Role == message.Tool {
			to = &results
		}
		m.Content = images.take(m.Content)
		to.Count++
		to.Bytes += bytesOf(&m)
		to.Tokens += tokens.Message(&m)
	}
	return []Part{system, tools, history, results, images}
}

// take counts the images of a content and returns the rest.
func (p *Part) take(content []message.Part) (rest []message.Part) {
	for _, c := range content {
		if c.Type != message.PartImage {
			rest = append(rest, c)
			continue
		}
		p.Count++
		p.Bytes += len(c.URL)
		p.Tokens += tokens.Message(&message.Message{Content: []message.Part{c}}) - tokens.Message(&message.Message{})
	}
	return rest
}

func bytesOf(m *message.Message) (n int) {
	for _, p := range m.Content {
		n += len(p.Text) + len(p.Raw) + len(p.Redacted)
	}
	for _, c := range m.ToolCalls {
		n += len(c.Name) + len(c.Args)
	}
	return n
}

// made says how a call went.
func (m *Mine) made(r *record, f frame) Made {
	out := Made{
		Model: f.Model, Provider: f.Provider, Began: timeOf(r.Began), Ended: timeOf(r.Began + r.Took), FirstMS: r.First,
		TookMS: r.Took, Error: r.Error, MessageID: r.MessageID, ToolCalls: []string{}, Tries: triesOf(&r.Call, f.Model),
	}
	if r.Sent == nil { // of before; the log tells when it was over
		out.Began, out.Ended, out.Tries = r.ev.Time, r.ev.Time, []Try{}
	}
	var answer message.Message
	if raw := r.answer(); raw == nil || json.Unmarshal(raw, &answer) != nil {
		return out
	}
	for _, c := range answer.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, c.Name)
	}
	out.FinishReason, _ = rawjson.String(answer.ResponseMetadata["finish_reason"])
	if out.Model == "" {
		out.Model, _ = rawjson.String(answer.ResponseMetadata["model_name"])
	}
	if u := answer.Usage; u != nil {
		out.Usage = usageOf(*u)
		if amount, currency, ok := m.all.cfg.Price(out.Model, *u); ok {
			out.Cost = &Cost{amount, currency}
		}
	}
	return out
}

func usageOf(u message.Usage) *Usage {
	out := &Usage{Input: u.InputTokens, Output: u.OutputTokens, Cached: u.CacheRead, CacheCreation: u.CacheCreation,
		Reasoning: u.Reasoning}
	if u.InputTokens > 0 {
		out.CachedShare = float64(u.CacheRead) / float64(u.InputTokens)
	}
	return out
}

// counts are the tokens as a provider tells them.
func (u *Usage) counts() message.Usage {
	return message.Usage{InputTokens: u.Input, OutputTokens: u.Output, CacheRead: u.Cached,
		CacheCreation: u.CacheCreation, Reasoning: u.Reasoning}
}

func timeOf(millis int64) time.Time { return time.UnixMilli(millis).UTC() }

// triesOf are the tries of a call. Those without a name were of the model that was asked last.
func triesOf(c *event.Call, model string) []Try {
	all := append(append([]event.Try(nil), c.Before...), c.Try)
	out := make([]Try, len(all))
	for i, t := range all {
		if t.Model == "" {
			t.Model = model
		}
		out[i] = Try{Model: t.Model, Began: timeOf(t.Began), FirstMS: t.First, TookMS: t.Took, Class: t.Class,
			Error: t.Error}
		if i+1 < len(all) {
			out[i].WaitMS = max(all[i+1].Began-t.Began-t.Took, 0)
		}
	}
	return out
}
