package memory

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
)

func memoryEmpty(err error) bool { return errors.Is(err, store.ErrNotFound) }

type documentIn struct {
	route.Rest `body:"document"`
}

// replace takes a document in the place of what is there. What is missing in it becomes empty.
func (g *Group) replace(ctx context.Context, in *documentIn) (memory.Document, error) {
	d, err := readDocument(in.Input)
	if err == nil {
		err = g.mine(ctx).Import(ctx, d)
	}
	var known *route.Error
	if err != nil && !errors.As(err, &known) && !errors.Is(err, memory.ErrChanged) &&
		!errors.Is(err, store.ErrTooLarge) && isDocuments(err) {
		err = route.Failf(http.StatusUnprocessableEntity, "%s", route.Clip(err.Error()))
	}
	return g.changed(ctx, err, "")
}

// isDocuments reports whether the document is what is wrong, not the store.
func isDocuments(err error) bool {
	var bad *memory.DocumentError
	return errors.As(err, &bad)
}

// readDocument reads a body, and says what is wrong in it and where.
func readDocument(in *route.Input) (memory.Document, error) {
	object(in, "user", func(user *route.Input) { sections(user, "workContext", "personalContext", "topOfMind") })
	object(in, "history",
		func(past *route.Input) { sections(past, "recentMonths", "earlierContext", "longTermBackground") })
	facts(in)
	if err := in.Err(); err != nil {
		return memory.Document{}, err
	}
	raw, err := json.Marshal(in.Members)
	if err != nil {
		return memory.Document{}, err
	}
	d, err := memory.ParseDocument(raw)
	if err != nil {
		return d, route.Failf(http.StatusUnprocessableEntity, "%s", route.Clip(err.Error()))
	}
	return d, nil
}

// object looks at a member that is an object.
func object(in *route.Input, name string, look func(*route.Input)) {
	raw := in.Raw(name)
	if raw == nil {
		return
	}
	sub := &route.Input{At: in.Loc(name)}
	if json.Unmarshal(raw, &sub.Members) != nil {
		in.Add("model_attributes_type", "Input should be a valid dictionary or object to extract fields from",
			route.Quoted(raw), sub.At...)
		return
	}
	look(sub)
	in.Take(sub)
}

// sections are summaries.
func sections(in *route.Input, names ...string) {
	for _, name := range names {
		object(in, name, func(s *route.Input) {
			s.Str("summary")
			s.Str("updatedAt")
		})
	}
}

// facts are a list of objects with an id and a content.
func facts(in *route.Input) {
	raw := in.Raw("facts")
	if raw == nil {
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		in.Add("list_type", "Input should be a valid list", route.Quoted(raw), in.Loc("facts")...)
		return
	}
	const most = 20 // faults are enough to begin with
	for i, raw := range list {
		sub := &route.Input{At: append(in.Loc("facts"), i)}
		if json.Unmarshal(raw, &sub.Members) != nil {
			sub.Add("model_attributes_type", "Input should be a valid dictionary or object to extract fields from",
				route.Quoted(raw), sub.At...)
		} else {
			for _, name := range []string{"id", "content"} {
				if sub.Raw(name) == nil {
					sub.Add("missing", "Field required", route.Quoted(raw), sub.Loc(name)...)
				}
				sub.Str(name)
			}
			sub.Str("category")
		}
		if in.Take(sub); len(in.Faults) > most {
			return
		}
	}
}
