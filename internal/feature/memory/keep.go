package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// ErrForbidden is that of a fact that may not be kept; it says why.
var ErrForbidden = errors.New("this is not remembered")

// Hand is the memory in the hands of a model: what it writes has to be what a human has said, as with a conversation
// that is read.
type Hand struct {
	*Mine

	// Thread and Agent are those of the run.
	Thread, Agent string
}

// Find finds facts that are for the run, the best first; without words it lists the surest.
func (h Hand) Find(ctx context.Context, words, category string, limit int) (out []Fact, err error) {
	at, err := h.place(ctx, h.Thread)
	if err != nil {
		return nil, err
	}
	fits := func(f *Fact) bool {
		return (f.Agent == "" || f.Agent == h.Agent) && (f.Folder == "" || f.Folder == at.folder) &&
			(category == "" || f.Category == category || f.Extension == category)
	}
	if words == "" {
		list, err := h.read(ctx, "told", h.Agent, at.folder, maxTold)
		list = slices.DeleteFunc(list, func(f Fact) bool { return !fits(&f) })
		return list[:min(limit, len(list))], err
	}
	hits, err := h.Search(ctx, Query{Words: words, Status: Active, Limit: MaxFound})
	for _, hit := range hits {
		if fits(&hit.Fact) && len(out) < limit {
			out = append(out, hit.Fact)
		}
	}
	return out, err
}

// judge finds out who has said it, and says what is wrong with it.
func (h Hand) judge(msgs []message.Message, content string) (evidence, error) {
	said := heard{turns: turnsOf(msgs), tools: results(msgs)}
	found := said.of(content, "")
	if why := forbidden(content, "", found.sentence); why != "" {
		return found, fmt.Errorf("%w: it is %s", ErrForbidden, why)
	}
	if found.mark == "" && mild.MatchString(content) {
		found.mark = Unclear
	}
	return found, nil
}

// Keep adds a fact. It waits for a yes unless a human has said it in the conversation.
func (h Hand) Keep(ctx context.Context, msgs []message.Message, f Fact) (kept Fact, err error) {
	found, err := h.judge(msgs, f.Content)
	if err != nil {
		return f, err
	}
	err = h.change(ctx, "keep fact", func(e *edit) error {
		n := f
		n.ID, n.Status, n.Revision, n.CreatedAt, n.UpdatedAt = e.fresh(), Active, 1, e.now, e.now
		n.Thread, n.Agent, n.Source, n.Mark = h.Thread, h.Agent, Conversation, found.mark
		act := ActAdded
		if n.Mark != "" {
			n.Status, act = Proposed, ActProposed
		}
		if err := n.check(); err != nil {
			return err
		}
		if e.known(&n) {
			return ErrDuplicate
		}
		e.put(n, act, "", "")
		if kept, err = e.room(&n); err != nil {
			return err
		}
		if found.message != "" {
			e.sources = append(e.sources, Source{Thread: h.Thread, Message: found.message, At: e.now,
				Words: cut(found.sentence, MaxContent), fact: n.ID})
		}
		return nil
	})
	return kept, err
}

// Amend changes a fact that is for the run. Other words have to be a human's.
func (h Hand) Amend(ctx context.Context, msgs []message.Message, id string, p Patch) (Fact, error) {
	if err := h.mayTouch(ctx, id); err != nil {
		return Fact{}, err
	}
	if p.Content != nil {
		found, err := h.judge(msgs, *p.Content)
		if err == nil && found.mark != "" {
			err = fmt.Errorf("%w: nobody has said it; add it as a fact of its own, which a person can agree to",
				ErrForbidden)
		}
		if err != nil {
			return Fact{}, err
		}
	}
	return h.Change(ctx, id, p)
}

// GiveUp has a fact that is for the run go. A person can bring it back for a while.
func (h Hand) GiveUp(ctx context.Context, id string) error {
	if err := h.mayTouch(ctx, id); err != nil {
		return err
	}
	_, err := h.decide(ctx, id, Active, func(e *edit, f *Fact) error {
		e.set(f, Gone, ActRemoved, "", "the model gave it up in thread "+h.Thread)
		return nil
	})
	return err
}

// mayTouch reports whether an active fact is for the run.
func (h Hand) mayTouch(ctx context.Context, id string) error {
	f, err := h.Fact(ctx, id)
	if err != nil {
		return err
	}
	at, err := h.place(ctx, h.Thread)
	if err == nil && (f.Status != Active || f.Agent != "" && f.Agent != h.Agent ||
		f.Folder != "" && f.Folder != at.folder) {
		err = store.ErrNotFound
	}
	return err
}
