package title

import (
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/conversation"
	"github.com/pudu-ai/pudu/internal/untrusted"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

//go:embed title.md
var defaultPrompt string

// Bounds of a call for a title.
const (
	maxQuoted = 500      // characters of each side's words that the model is shown
	maxRead   = 16 << 10 // bytes of its answer that are read
)

// side is a title in the making beside a model call, which owns it: its goroutine ends before the call returns.
type side struct {
	cancel context.CancelFunc
	made   chan string // gets one title, empty if there is none
}

// begin asks for the title of a conversation.
func (m *Middleware) begin(ctx context.Context, msgs []message.Message) *side {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	s := &side{cancel: cancel, made: make(chan string, 1)}
	prompt := m.prompt(msgs)
	go func() {
		defer close(s.made)
		defer func() { _ = recover() }() // a title is not worth a run
		s.made <- clean(m.ask(ctx, prompt), m.cfg.MaxChars)
	}()
	return s
}

// wait returns the title if it is there, or comes within the time. It does not wait for anything once ctx is done.
func (s *side) wait(ctx context.Context, grace time.Duration) string {
	if grace <= 0 {
		select {
		case title := <-s.made:
			return title
		default:
			return ""
		}
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case title := <-s.made:
		return title
	case <-t.C:
	case <-ctx.Done():
	}
	return ""
}

// end gives up what is not there yet, and returns when the goroutine is done: a model call ends with its context.
func (s *side) end() {
	s.cancel()
	for range s.made {
	}
}

// ask makes the call and returns what the model said; empty if it failed.
func (m *Middleware) ask(ctx context.Context, prompt string) string {
	off := false
	req := &model.Request{
		Messages: []message.Message{message.New(message.Human, prompt)}, Settings: model.Settings{Thinking: &off},
	}
	var said strings.Builder
	for c, err := range m.cfg.Model.Stream(ctx, req) {
		if err != nil {
			return ""
		}
		if said.WriteString(c.Text); said.Len() > maxRead {
			break
		}
	}
	return said.String()
}

// prompt fills the template. Doubled braces are single ones, as in the format strings that users may have written.
func (m *Middleware) prompt(msgs []message.Message) string {
	user, assistant := "", ""
	if first, _ := firstUser(msgs); first != nil {
		user = conversation.OwnText(*first)
	}
	if i := slices.IndexFunc(msgs, func(m message.Message) bool { return m.Role == message.AI && m.Text() != "" }); i >= 0 {
		assistant = withoutThoughts(msgs[i].Text())
	}
	return strings.NewReplacer(
		"{{", "{", "}}", "}", "{max_words}", strconv.Itoa(m.cfg.MaxWords),
		"{user_msg}", untrusted.Text(first(user, maxQuoted)), "{assistant_msg}", untrusted.Text(first(assistant, maxQuoted)),
	).Replace(m.cfg.Prompt)
}
