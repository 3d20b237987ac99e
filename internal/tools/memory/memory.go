// Package memory holds the tools with which a model looks into the user's memory and keeps facts there itself:
// memory_search, memory_add, memory_update and memory_delete. The agent has them with memory.mode: tool.
package memory

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

var (
	//go:embed search.md
	searchText string
	//go:embed add.md
	addText string
	//go:embed update.md
	updateText string
	//go:embed delete.md
	deleteText string
)

// Config is what the tools work with. Every field is required.
type Config struct {
	// Memory is the user's.
	Memory *memory.Mine
	// Messages reads the conversation: only what a human has said there is remembered without a question.
	Messages func(s state.State) []message.Message
}

// Bounds of a search.
const (
	defaultFound = 10
	mostFound    = 50
)

type kit struct{ Config }

// New returns the tools.
func New(c Config) []tool.Tool {
	k := kit{c}
	return []tool.Tool{
		tool.MustNew(spec("memory_search", searchText, tool.ReadOnly), k.search),
		tool.MustNew(spec("memory_add", addText, tool.Idempotent), k.add),
		tool.MustNew(spec("memory_update", updateText, tool.Idempotent), k.update),
		tool.MustNew(spec("memory_delete", deleteText, tool.Idempotent), k.drop),
	}
}

func spec(name, text string, effect tool.Effect) tool.Spec {
	return tool.Spec{Name: name, Description: strings.TrimSpace(text), Effect: effect}
}

func (k kit) hand(c *tool.Call) memory.Hand {
	return memory.Hand{Mine: k.Memory, Thread: c.Env.Ref.Thread, Agent: c.Env.Ref.Agent}
}

// says is a result as JSON.
func says(v any) (*tool.Result, error) {
	raw, err := json.Marshal(v)
	return tool.Text(string(raw)), err
}

// failed is an error that the model can act on; others end the call.
func failed(err error, id string) (*tool.Result, error) {
	var say string
	switch {
	case errors.Is(err, memory.ErrEmpty):
		say = "empty content"
	case errors.Is(err, memory.ErrDuplicate):
		say = "Duplicate fact"
	case errors.Is(err, store.ErrNotFound):
		say = "Fact not found: " + id
	case errors.Is(err, memory.ErrForbidden), errors.Is(err, memory.ErrEvicted), errors.Is(err, memory.ErrChanged),
		errors.Is(err, store.ErrTooLarge):
		say = err.Error()
	default:
		return nil, err
	}
	return says(struct {
		Error string `json:"error"`
	}{say})
}

type searchArgs struct {
	Query    string `json:"query" doc:"Words to look for; none lists the surest facts."`
	Category string `json:"category,omitempty" doc:"preference, correction, context, goal, behavior, identity, constraint, decision."`
	Limit    int    `json:"limit,omitempty" doc:"Default 10, at most 50."`
}

type found struct {
	ID         string  `json:"id"`
	Content    string  `json:"content"`
	Category   string  `json:"category"`
	Confidence float64 `json:"confidence"`
}

func (k kit) search(ctx context.Context, c *tool.Call, in searchArgs) (*tool.Result, error) {
	limit := defaultFound
	if in.Limit > 0 {
		limit = min(in.Limit, mostFound)
	}
	list, err := k.hand(c).Find(ctx, in.Query, in.Category, limit)
	if err != nil {
		return failed(err, "")
	}
	out := struct {
		Results []found `json:"results"`
		Count   int     `json:"count"`
	}{[]found{}, len(list)}
	for _, f := range list {
		out.Results = append(out.Results, found{f.ID, f.Content, f.Category, f.Confidence})
	}
	return says(out)
}

type addArgs struct {
	Content    string   `json:"content" doc:"One sentence."`
	Category   string   `json:"category,omitempty" doc:"Default context."`
	Confidence *float64 `json:"confidence,omitempty" doc:"0 to 1, default 0.7."`
}

// done is what became of a fact.
type done struct {
	ID     string `json:"fact_id"`
	Status string `json:"status"`
	Why    string `json:"why,omitempty"`
}

func (k kit) add(ctx context.Context, c *tool.Call, in addArgs) (*tool.Result, error) {
	const sure = 0.7
	f := memory.Fact{Content: in.Content, Confidence: sure}
	if in.Confidence != nil {
		f.Confidence = min(max(*in.Confidence, 0), 1)
	}
	f.SetCategory(in.Category)
	kept, err := k.hand(c).Keep(ctx, k.Messages(c.State), f)
	switch {
	case err != nil:
		return failed(err, "")
	case kept.Status == memory.Proposed:
		return says(done{kept.ID, "proposed", "the user has not said it in this conversation, and is asked"})
	}
	return says(done{kept.ID, "added", ""})
}

type updateArgs struct {
	ID         string   `json:"fact_id"`
	Content    *string  `json:"content,omitempty"`
	Category   *string  `json:"category,omitempty"`
	Confidence *float64 `json:"confidence,omitempty" doc:"0 to 1."`
}

func (k kit) update(ctx context.Context, c *tool.Call, in updateArgs) (*tool.Result, error) {
	if in.Confidence != nil {
		*in.Confidence = min(max(*in.Confidence, 0), 1)
	}
	_, err := k.hand(c).Amend(ctx, k.Messages(c.State), in.ID, memory.Patch{Content: in.Content, Category: in.Category,
		Confidence: in.Confidence})
	if err != nil {
		return failed(err, in.ID)
	}
	return says(done{in.ID, "updated", ""})
}

type dropArgs struct {
	ID string `json:"fact_id"`
}

func (k kit) drop(ctx context.Context, c *tool.Call, in dropArgs) (*tool.Result, error) {
	if err := k.hand(c).GiveUp(ctx, in.ID); err != nil {
		return failed(err, in.ID)
	}
	return says(done{in.ID, "deleted", ""})
}
