// Package title gives a thread its title: at once the beginning of what the user said first, so that there is one
// whatever becomes of the run, and, if a model is configured for it, that model's title in its place.
//
// The model is asked beside a model call of the run, not before or after one, so that nothing waits for it: the run's
// next step never does, and the end of a run that gives its answer in the very first call at most for Config.Grace.
// What is not there by then is given up and tried again beside the next model call of the thread.
package title

import (
	"cmp"
	"context"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// Config tunes the middleware.
type Config struct {
	// Model makes the title; nil means that the beginning of the user's words stays.
	Model model.ChatModel
	// ModelName is its name in the configuration, under which its tokens are counted.
	ModelName string
	// MaxWords is what the model is asked to keep to; 0 means 6.
	MaxWords int
	// MaxChars bounds a title, in characters; 0 means 60.
	MaxChars int
	// Prompt asks for the title; empty means the one of this package. {max_words}, {user_msg} and {assistant_msg} are
	// replaced; the last is empty as long as the model has said nothing.
	Prompt string
	// Grace is how long the end of a run waits for a title that is nearly there; 0 means 1.5 s, less than 0 not at all.
	Grace time.Duration
}

const (
	// maxTries is how often the model is asked for the title of a thread.
	maxTries = 3
	// deadline bounds one such call.
	deadline = 30 * time.Second
)

// pendings says that the thread's title is to be replaced by a model's.
var pendings = state.LastValue[pending]("title_pending").AsPrivate()

type pending struct {
	// Title is the one to be replaced. If the thread has another one by now, somebody has given it a name.
	Title string `json:"title"`
	Tries int    `json:"tries"`
}

// Middleware makes titles.
type Middleware struct{ cfg Config }

var (
	_ agent.BeforeAgentHook  = (*Middleware)(nil)
	_ agent.ModelCallWrapper = (*Middleware)(nil)
	_ agent.StateProvider    = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware {
	cfg.MaxWords, cfg.MaxChars = cmp.Or(cfg.MaxWords, 6), cmp.Or(cfg.MaxChars, 60)
	cfg.Prompt = cmp.Or(cfg.Prompt, defaultPrompt)
	cfg.Grace = cmp.Or(cfg.Grace, 1500*time.Millisecond)
	return &Middleware{cfg: cfg}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "TitleMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel {
	return []state.AnyChannel{threadstate.Title, pendings, threadstate.SideUsageChannel()}
}

// BeforeAgent implements [agent.BeforeAgentHook]: a thread's first message gives it a title.
func (m *Middleware) BeforeAgent(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	if threadstate.Title.Get(s) != "" {
		return agent.Command{}, nil
	}
	first, n := firstUser(agent.Messages.Get(s))
	if n != 1 {
		return agent.Command{}, nil
	}
	title := fallback(conversation.OwnText(*first), m.cfg.MaxChars)
	update := threadstate.Title.Put(title)
	if m.cfg.Model != nil {
		update = update.With(pendings.Put(pending{Title: title}))
	}
	return agent.Command{Update: update}, nil
}

// firstUser is what the user said first, and how many messages he sent.
func firstUser(msgs []message.Message) (first *message.Message, n int) {
	for i := range msgs {
		if conversation.IsUser(msgs[i]) {
			if n++; n == 1 {
				first = &msgs[i]
			}
		}
	}
	return first, n
}

// WrapModelCall implements [agent.ModelCallWrapper]. The title, or that there is none yet, becomes part of the state
// together with the answer.
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	p := pendings.Get(req.State)
	if m.cfg.Model == nil || p.Title == "" || p.Tries >= maxTries || threadstate.Title.Get(req.State) != p.Title {
		return next(ctx, req)
	}
	side := m.begin(ctx, agent.Messages.Get(req.State))
	defer side.cancel()
	resp, err := next(ctx, req)
	grace := m.cfg.Grace
	if err != nil || resp.Message.AsksForTools() { // the run goes on, or has failed
		grace = 0
	}
	got := side.wait(ctx, grace)
	req.Runtime.Spend(got.spent)
	if err != nil {
		return nil, err
	}
	out := *resp
	if got.title != "" {
		out.Update = resp.Update.With(threadstate.Title.Put(got.title), pendings.Delete())
	} else {
		p.Tries++
		out.Update = resp.Update.With(pendings.Put(p))
	}
	if got.spent != (message.Usage{}) {
		out.Update = out.Update.With(threadstate.AddSideUsage(req.Runtime.RunID, got.by, got.spent))
	}
	return &out, nil
}
