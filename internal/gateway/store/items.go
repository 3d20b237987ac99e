package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/pudu-ai/pudu/internal/feature/items"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	maxLabels  = 16
	maxLabel   = 128     // bytes
	maxItemKey = 256     // bytes
	maxValue   = 1 << 20 // bytes
	maxTTL     = 100 * 365 * 24 * time.Hour
)

// itemJSON is an item of the store as clients see it.
type itemJSON struct {
	Namespace []string        `json:"namespace"`
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	CreatedAt string          `json:"created_at"`
	UpdatedAt string          `json:"updated_at"`
	Score     float64         `json:"score,omitempty"` // of a search with a query
}

func itemOf(i items.Item) itemJSON {
	return itemJSON{i.Namespace, i.Key, i.Value, shape.Stamp(i.CreatedAt), shape.Stamp(i.UpdatedAt), i.Score}
}

// labels checks a namespace, or a part of one. The error is of LangGraph's form: a sentence.
func labels(ns []string) error {
	if len(ns) > maxLabels {
		return route.Failf(http.StatusUnprocessableEntity, "A namespace has at most %d labels. Received: %d", maxLabels,
			len(ns))
	}
	for _, l := range ns {
		switch {
		case l == "" || strings.Contains(l, "."):
			return route.Failf(http.StatusUnprocessableEntity,
				"Namespace labels cannot be empty or contain periods. Received: %s", route.Clip(strings.Join(ns, ".")))
		case len(l) > maxLabel || strings.ContainsFunc(l, unicode.IsControl):
			return route.Failf(http.StatusUnprocessableEntity,
				"Namespace labels have at most %d bytes and no control characters. Received: %q", maxLabel,
				route.Clip(l))
		}
	}
	return nil
}

// labelsIn is a namespace of a body, with one label at least; partIn is a part of one, which may have none.
type (
	labelsIn []string
	partIn   []string
)

// ReadFrom implements [route.Reader].
func (l *labelsIn) ReadFrom(in *route.Input, name string) {
	*l = in.Names(name, 1000)
	if len(*l) == 0 && len(in.Faults) == 0 {
		in.Add("missing", "Field required", in.Members[name], in.Loc(name)...)
	}
}

// ReadFrom implements [route.Reader].
func (p *partIn) ReadFrom(in *route.Input, name string) { *p = in.Names(name, 1000) }

// keyIn is the key of an item.
type keyIn string

// ReadFrom implements [route.Reader].
func (k *keyIn) ReadFrom(in *route.Input, name string) {
	*k = keyIn(in.Text(name, maxItemKey))
	if *k == "" && len(in.Faults) == 0 {
		in.Add("missing", "Field required", in.Members[name], in.Loc(name)...)
	}
}

// valueIn is the value of an item.
type valueIn json.RawMessage

// ReadFrom implements [route.Reader].
func (v *valueIn) ReadFrom(in *route.Input, name string) {
	*v = valueIn(in.Bounded(name, maxValue))
	if *v == nil && len(in.Faults) == 0 {
		in.Add("missing", "Field required", nil, in.Loc(name)...)
	}
}

// minutes is a length of time; 0 if it is missing. A fraction of a minute is allowed, as in LangGraph's stores.
type minutes time.Duration

// ReadFrom implements [route.Reader].
func (m *minutes) ReadFrom(in *route.Input, name string) {
	v := in.Raw(name)
	if v == nil {
		return
	}
	n, err := route.Decimal(route.Unquoted(v))
	switch {
	case err != nil:
		in.Add("float_parsing", "Input should be a valid number, unable to parse string as a number", route.Quoted(v),
			in.Loc(name)...)
	case !(n*float64(time.Minute) >= float64(time.Millisecond)):
		in.Add("greater_than", "Input should be greater than 0", route.Quoted(v),
			in.Loc(name)...).Ctx = map[string]any{"gt": 0}
	case n > maxTTL.Minutes():
		in.Add("less_than_equal", fmt.Sprintf("Input should be less than or equal to %.0f", maxTTL.Minutes()),
			route.Quoted(v), in.Loc(name)...).
			Ctx = map[string]any{"le": maxTTL.Minutes()}
	default:
		*m = minutes(n * float64(time.Minute))
	}
}

// access is a read now. It prolongs the lives of the items that it finds unless the client says otherwise.
func (g *Group) access(refresh bool) items.Access {
	return items.Access{Now: g.Now(), Refresh: refresh}
}

type putIn struct {
	Namespace labelsIn `body:"namespace"`
	Key       keyIn    `body:"key"`
	Value     valueIn  `body:"value"`
	TTL       minutes  `body:"ttl"`
}

// put adds or replaces an item. What to index is left alone: a search looks at whole values.
func (g *Group) put(ctx context.Context, in *putIn) (route.Status, error) {
	if err := labels(in.Namespace); err != nil {
		return 0, err
	}
	now := g.Now()
	return http.StatusNoContent, g.mine(ctx).Put(ctx, items.Item{
		Namespace: in.Namespace, Key: string(in.Key), Value: json.RawMessage(in.Value), CreatedAt: now, UpdatedAt: now,
		TTL: time.Duration(in.TTL),
	})
}

type getIn struct {
	Key       keyIn  `query:"key"`
	Refresh   bool   `query:"refresh_ttl" default:"true"`
	Namespace string `query:"namespace" required:""`
}

// get shows an item; one that is missing is null.
func (g *Group) get(ctx context.Context, in *getIn) (*itemJSON, error) {
	ns := strings.Split(in.Namespace, ".")
	if err := labels(ns); err != nil {
		return nil, err
	}
	i, err := g.mine(ctx).Item(ctx, ns, string(in.Key), g.access(in.Refresh))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := itemOf(i)
	return &out, nil
}

type removeIn struct {
	Namespace labelsIn `body:"namespace"`
	Key       keyIn    `body:"key"`
}

// Audited implements [route.Audited].
func (in *removeIn) Audited() (string, bool) {
	return strings.Join(in.Namespace, ".") + "/" + string(in.Key), true
}

// remove removes an item, whether it is there or not.
func (g *Group) remove(ctx context.Context, in *removeIn) (route.Status, error) {
	if err := labels(in.Namespace); err != nil {
		return 0, err
	}
	return http.StatusNoContent, g.mine(ctx).Delete(ctx, in.Namespace, string(in.Key))
}

type searchIn struct {
	Limit   int    `body:"limit" default:"10" min:"1" max:"1000"`
	Offset  int    `body:"offset" max:"1073741824"`
	Refresh bool   `body:"refresh_ttl" default:"true"`
	Prefix  partIn `body:"namespace_prefix"`
	Query   string `body:"query" max:"4096"`
	Match   match  `body:"filter"`
}

type foundJSON struct {
	Items []itemJSON `json:"items"`
}

// search lists items under a prefix: those that match a query, the best first, or all, the last updated first.
func (g *Group) search(ctx context.Context, in *searchIn) (out foundJSON, err error) {
	if err := labels(in.Prefix); err != nil {
		return out, err
	}
	list, err := g.mine(ctx).Search(ctx, items.Filter{
		Access: g.access(in.Refresh), Prefix: in.Prefix, Query: in.Query, Match: in.Match, Limit: in.Limit,
		Offset: in.Offset,
	})
	if errors.Is(err, store.ErrTooLarge) {
		return out, route.Failf(http.StatusUnprocessableEntity,
			"The items of the page are too large together; ask for fewer")
	}
	if err != nil {
		return out, err
	}
	out.Items = make([]itemJSON, len(list))
	for i := range list {
		out.Items[i] = itemOf(list[i])
	}
	return out, nil
}

// match are the members that values must have. Of LangGraph's operators there is $eq.
type match map[string]json.RawMessage

// ReadFrom implements [route.Reader].
func (m *match) ReadFrom(in *route.Input, name string) { *m = readMatch(in, name) }

func readMatch(in *route.Input, name string) map[string]json.RawMessage {
	members := in.MembersOf(name)
	if len(members) > route.MaxFilter {
		in.Add("too_long", fmt.Sprintf("Dictionary should have at most %d items", route.MaxFilter), nil,
			in.Loc(name)...)
		return nil
	}
	for key, value := range members {
		sub := &route.Input{At: append(in.Loc(name), key)}
		if json.Unmarshal(value, &sub.Members) != nil {
			continue
		}
		for op, operand := range sub.Members {
			switch {
			case op == "$eq" && len(sub.Members) == 1:
				members[key] = operand
			case strings.HasPrefix(op, "$"):
				in.Add("value_error", "Value error, the operator is not supported; use $eq or the value itself",
					route.Quoted(value), sub.Loc(op)...)
			}
		}
	}
	return members
}

type namespacesIn struct {
	Limit    int    `body:"limit" default:"100" min:"1" max:"1000"`
	Offset   int    `body:"offset" max:"1073741824"`
	Prefix   partIn `body:"prefix"`
	Suffix   partIn `body:"suffix"`
	MaxDepth int    `body:"max_depth" min:"1" max:"16"`
}

type namespacesJSON struct {
	Namespaces [][]string `json:"namespaces"`
}

// namespaces lists the namespaces that hold items.
func (g *Group) namespaces(ctx context.Context, in *namespacesIn) (out namespacesJSON, err error) {
	if err := errors.Join(labels(in.Prefix), labels(in.Suffix)); err != nil {
		return out, err
	}
	out.Namespaces, err = g.mine(ctx).Namespaces(ctx, items.NamespaceFilter{
		Prefix: in.Prefix, Suffix: in.Suffix, Now: g.Now(), MaxDepth: in.MaxDepth, Limit: in.Limit, Offset: in.Offset,
	})
	if out.Namespaces == nil {
		out.Namespaces = [][]string{}
	}
	return out, err
}
