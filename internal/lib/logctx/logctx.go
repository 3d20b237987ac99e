// Package logctx has every line of the log name what it is about: the request, the token that came with it, the run,
// its thread and its user. The edges and the manager of runs put the ids into the context with [With]; [Handler] takes
// them out of it for each line that is logged with that context. Who logs need not know them.
package logctx

import (
	"context"
	"log/slog"
)

// IDs are what a line of the log is about. Those that are empty are left out.
type IDs struct {
	// Request is the HTTP request's, Token the name of the token that it brought.
	Request, Token    string
	Run, Thread, User string
}

type key struct{}

// With returns a context with the ids; those that are empty stay as they were.
func With(ctx context.Context, ids IDs) context.Context {
	all := Of(ctx)
	for _, set := range []struct {
		into *string
		to   string
	}{
		{&all.Request, ids.Request}, {&all.Token, ids.Token}, {&all.Run, ids.Run}, {&all.Thread, ids.Thread},
		{&all.User, ids.User},
	} {
		if set.to != "" {
			*set.into = set.to
		}
	}
	return context.WithValue(ctx, key{}, all)
}

// Of returns the ids in the context.
func Of(ctx context.Context) IDs {
	ids, _ := ctx.Value(key{}).(IDs) // none is the zero value
	return ids
}

func (ids IDs) attrs() []slog.Attr {
	list := make([]slog.Attr, 0, 5)
	for _, a := range []slog.Attr{
		slog.String("request", ids.Request), slog.String("token", ids.Token), slog.String("run", ids.Run),
		slog.String("thread", ids.Thread), slog.String("user", ids.User),
	} {
		if a.Value.String() != "" {
			list = append(list, a)
		}
	}
	return list
}

// Handler adds the ids of the context to each line, before it goes to next.
func Handler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if attrs := Of(ctx).attrs(); len(attrs) > 0 {
		r = r.Clone() // the caller may have handed it to others
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
