// Package modelcall is what stands right before a configured model: a call waits here until the model's key may make
// it, leaves out what the model cannot see, and says in its answer who gave it.
//
// A [Model] is made for one call, by the middleware that chooses whom to ask (internal/middleware/llmerror). It goes
// through the rest of the chain as the request's model, so that whoever depends on the model's window or name asks [Of]
// and [AnsweredBy]. A [Limiter] is shared by all calls with one key, whichever run or side task makes them.
package modelcall

import (
	"cmp"
	"context"
	"iter"
	"maps"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/history"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// KeyAnsweredBy is the key of response_metadata that holds the configured name of the model that answered in the place
// of another one. An answer without it is the run's own model's.
const KeyAnsweredBy = "pudu_answered_by"

// KeyEstimated is the key of response_metadata that says that the usage of an answer is our estimate.
const KeyEstimated = "usage_estimated"

// Entry is what the configuration says of a model, as far as its calls depend on it.
type Entry struct {
	// Name is the configured name; empty for a model that has none.
	Name string
	// Window is the size of its window and MaxAnswer the bound of its answers, in tokens; 0 means unknown.
	Window, MaxAnswer int
	// Vision, Thinking and Effort say that it can look at images, can think, and takes a reasoning effort.
	Vision, Thinking, Effort bool
}

// Fit returns the settings as the model takes them. They were made for another one.
func (e Entry) Fit(s model.Settings) model.Settings {
	if !e.Thinking {
		s.Thinking = nil
	}
	if !e.Effort {
		s.Effort = ""
	}
	if e.MaxAnswer > 0 && s.MaxTokens > e.MaxAnswer {
		s.MaxTokens = e.MaxAnswer
	}
	return s
}

// Model is a model for one call and its tries.
type Model struct {
	model.ChatModel

	Entry Entry
	// Instead says that it is asked in the place of another model.
	Instead bool
	// Key is the limiter of its key, All that of the process; nil sets no bound.
	Key, All *Limiter
	// Queued, if set, is told once, when the call waits for longer than a second; ahead is how many were before it
	// then.
	Queued func(ahead int)
	// Observe, if set, is told when the call is over.
	Observe Observer

	ticket ticket
	told   bool
}

// Of returns the entry of a model that is asked in the place of another one. For any other model it is false: what
// depends on a model is then set up for it already.
func Of(m model.ChatModel) (Entry, bool) {
	if c, ok := m.(*Model); ok && c.Instead {
		return c.Entry, true
	}
	return Entry{}, false
}

// AnsweredBy is the configured name of the model that gave the answer; own is that of the one that was to give it.
func AnsweredBy(m *message.Message, own string) string {
	name, _ := rawjson.String(m.ResponseMetadata[KeyAnsweredBy])
	return cmp.Or(name, own)
}

// Sent is what a model is given when it is asked, and the configured name of it, or its own where there is none.
func Sent(m model.ChatModel, req *model.Request) (name string, sent *model.Request) {
	c, ok := m.(*Model)
	if !ok {
		return m.Name(), req
	}
	return cmp.Or(c.Entry.Name, c.Name()), c.sent(req)
}

// sent is the request without what the model cannot see.
func (m *Model) sent(req *model.Request) *model.Request {
	if m.Instead && !m.Entry.Vision {
		return blind.Request(req)
	}
	return req
}

// Stream implements [model.ChatModel]. It waits for its turn, with no other bound than the context.
func (m *Model) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		req = m.sent(req)
		p, err := m.enter(ctx, req)
		if err != nil {
			yield(message.Chunk{}, err)
			return
		}
		defer p.leave()
		w := m.watch()
		defer func() { w.tell(ctx, m.Observe) }()
		first := true
		for c, err := range m.ChatModel.Stream(ctx, req) {
			p.see(&c, err)
			w.see(&c, err)
			if first && m.Instead && err == nil {
				c.Metadata = with(c.Metadata, KeyAnsweredBy, cmp.Or(m.Entry.Name, m.Name()))
			}
			first = false
			if !yield(c, err) || err != nil {
				return
			}
		}
		if c, missing := p.estimate(req); missing {
			w.see(&c, nil)
			yield(c, nil)
		}
	}
}

func with(f message.Fields, key, value string) message.Fields {
	out := make(message.Fields, len(f)+1)
	maps.Copy(out, f)
	out[key] = rawjson.AppendString(nil, value)
	return out
}

// blind puts words in the places of images.
var blind = history.Rules{Images: history.ImagesNowhere}
