package summarization

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

//go:embed prompt.md
var promptText string

// errBlank is a summary without a word.
var errBlank = errors.New("the summary is empty")

// leastPiece is how small the pieces for the summarizing model may get, in tokens.
const leastPiece = 400

// writer is a model that writes summaries.
type writer struct {
	model  model.ChatModel
	name   string
	window int
}

// summarize returns a summary of what the old one covers and the messages. The first model that can does it.
func (m *Middleware) summarize(ctx context.Context, run model.ChatModel, old string, msgs []message.Message) (string,
	spending, error) {
	if run == nil {
		run = m.cfg.RunModel
	}
	writers := []writer{{m.cfg.Model, m.cfg.ModelName, m.cfg.ModelWindow}, {run, m.cfg.RunModelName, m.cfg.Window}}
	spent := make(spending)
	failed := errors.New("no model is set that could summarize")
	for _, w := range writers {
		if w.model == nil {
			continue
		}
		text, err := m.fold(ctx, w, old, msgs, spent)
		if err == nil {
			return text, spent, nil
		}
		if ctx.Err() != nil {
			return "", spent, context.Cause(ctx)
		}
		failed = err
	}
	return "", spent, fmt.Errorf("summarize: %w", failed)
}

// fold shows the model all messages piece by piece, each with the summary of what came before. When a piece is too long
// for the model, the rest is shown in smaller ones.
func (m *Middleware) fold(ctx context.Context, w writer, old string, msgs []message.Message,
	spent spending) (string, error) {
	size := m.pieceSize(w)
	rest := transcript(msgs)
	for len(rest) > 0 {
		piece, after := firstPiece(rest, size)
		text, err := m.ask(ctx, w, old, piece, len(after) == 0, spent)
		if e := model.AsError(err); e != nil && e.Class == model.ClassContextLength && size > leastPiece {
			size = max(leastPiece, min(size, tokens.Text(strings.Join(piece, "")))/2)
			continue
		}
		if err != nil {
			return "", err
		}
		old, rest = text, after
	}
	return old, nil
}

// pieceSize is how many tokens of messages the model is shown at once.
func (m *Middleware) pieceSize(w writer) int {
	size := unbounded
	if w.window > 0 {
		size = max(leastPiece, w.window/2-1000)
	}
	if m.cfg.TrimTokens > 0 {
		size = min(size, max(leastPiece, m.cfg.TrimTokens))
	}
	return size
}

// ask makes one call. What the model writes is not streamed to anybody.
func (m *Middleware) ask(
	ctx context.Context, by writer, old string, piece []string, last bool, spent spending,
) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Timeout)
	defer cancel()
	var b strings.Builder
	if old != "" {
		b.WriteString("<existing_summary>\n" + compaction.Escape(old) + "\n</existing_summary>\n\n")
	}
	b.WriteString("<new_messages>\n" + strings.Join(piece, "\n") + "\n</new_messages>\n\n")
	if !last {
		b.WriteString("More messages will follow. ")
	}
	b.WriteString("Write the new record.")
	req := &model.Request{System: m.instructions(), Messages: []message.Message{message.New(message.Human, b.String())}}
	answer, err := model.Collect(by.model.Stream(ctx, req))
	spent.add(modelcall.AnsweredBy(&answer, by.name), answer.Usage)
	if err != nil {
		return "", err
	}
	text := compaction.Bound(withoutThoughts(answer.Text()), compaction.MaxSection)
	if text == "" {
		return "", errBlank
	}
	return text, nil
}

// instructions are those of the configuration, which may name the place of the messages as LangChain's prompts do.
func (m *Middleware) instructions() string {
	if m.cfg.Prompt == "" {
		return strings.TrimSpace(promptText)
	}
	return strings.ReplaceAll(m.cfg.Prompt, "{messages}", "(see below)")
}

// withoutThoughts drops the reasoning that some models write in front of their answer.
func withoutThoughts(s string) string {
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "<think>"); ok {
		_, s, _ = strings.Cut(inner, "</think>")
	}
	return strings.TrimSpace(s)
}
