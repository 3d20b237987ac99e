package title

import (
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
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
	made   chan made // gets one, and is closed
}

// made is what came of asking.
type made struct {
	title string // empty if there is none
	spent message.Usage
	by    string // the configured name of the model that was asked
}

// begin asks for the title of a conversation.
func (m *Middleware) begin(ctx context.Context, msgs []message.Message) *side {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	s := &side{cancel: cancel, made: make(chan made, 1)}
	prompt := m.prompt(msgs)
	go func() {
		defer close(s.made)
		defer func() { _ = recover() }() // a title is not worth a run
		said, answer := m.ask(ctx, prompt)
		got := made{title: clean(said, m.cfg.MaxChars), by: modelcall.AnsweredBy(&answer, m.cfg.ModelName)}
		if answer.Usage != nil {
			got.spent = *answer.Usage
		}
		s.made <- got
	}()
	return s
}

// wait returns the title if it is there, or comes within the time. What is not there by then is given up: the call ends
// with its context, and has cost what it has cost. When wait returns the goroutine is done.
func (s *side) wait(ctx context.Context, grace time.Duration) made {
	t := time.NewTimer(max(grace, 0))
	defer t.Stop()
	select {
	case got := <-s.made:
		return got
	case <-t.C:
	case <-ctx.Done():
	}
	s.cancel()
	return <-s.made
}

// ask makes the call and returns what the model said, empty if it failed, and the answer as far as it came.
func (m *Middleware) ask(ctx context.Context, prompt string) (said string, answer message.Message) {
	off := false
	req := &model.Request{
		Messages: []message.Message{message.New(message.Human, prompt)}, Settings: model.Settings{Thinking: &off},
	}
	var b message.Builder
	read, failed := 0, false
	for c, err := range m.cfg.Model.Stream(ctx, req) {
		if failed = err != nil; failed {
			break
		}
		b.Add(c)
		if read += len(c.Text) + len(c.Reasoning); read > maxRead {
			break
		}
	}
	answer = b.Message()
	if failed {
		return "", answer
	}
	return answer.Text(), answer
}

// prompt fills the template. Doubled braces are single ones, as in the format strings that users may have written.
func (m *Middleware) prompt(msgs []message.Message) string {
	user, assistant := "", ""
	if first, _ := firstUser(msgs); first != nil {
		user = conversation.OwnText(*first)
	}
	if i := slices.IndexFunc(msgs,
		func(m message.Message) bool { return m.Role == message.AI && m.Text() != "" }); i >= 0 {
		assistant = withoutThoughts(msgs[i].Text())
	}
	return strings.NewReplacer(
		"{{", "{", "}}", "}", "{max_words}", strconv.Itoa(m.cfg.MaxWords),
		"{user_msg}", untrusted.Text(excerpt.First(user, maxQuoted)), "{assistant_msg}",
		untrusted.Text(excerpt.First(assistant, maxQuoted)),
	).Replace(m.cfg.Prompt)
}
