package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	maxLabels  = 16
	maxLabel   = 128     // bytes
	maxItemKey = 256     // bytes
	maxValue   = 1 << 20 // bytes
	maxQuery   = 4096    // bytes
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
	return itemJSON{i.Namespace, i.Key, i.Value, stamp(i.CreatedAt), stamp(i.UpdatedAt), i.Score}
}

// labels checks a namespace, or a part of one. The error is of LangGraph's form: a sentence.
func labels(ns []string) error {
	if len(ns) > maxLabels {
		return failf(http.StatusUnprocessableEntity, "A namespace has at most %d labels. Received: %d", maxLabels, len(ns))
	}
	for _, l := range ns {
		switch {
		case l == "" || strings.Contains(l, "."):
			return failf(http.StatusUnprocessableEntity, "Namespace labels cannot be empty or contain periods. Received: %s", clip(strings.Join(ns, ".")))
		case len(l) > maxLabel || strings.ContainsFunc(l, unicode.IsControl):
			return failf(http.StatusUnprocessableEntity, "Namespace labels have at most %d bytes and no control characters. Received: %q", maxLabel, clip(l))
		}
	}
	return nil
}

// namespace reads a list of labels. Without optional it has one at least.
func (in *input) namespace(name string, optional bool) []string {
	ns := in.names(name, 1000)
	if len(ns) == 0 && !optional && len(in.faults) == 0 {
		in.add("missing", "Field required", in.members[name], in.loc(name)...)
	}
	return ns
}

// itemKey reads the key of an item.
func (in *input) itemKey() string {
	key := in.text("key", maxItemKey)
	if key == "" && len(in.faults) == 0 {
		in.add("missing", "Field required", in.members["key"], in.loc("key")...)
	}
	return key
}

// minutes reads a length of time; 0 if it is missing. A fraction of a minute is allowed, as in LangGraph's stores.
func (in *input) minutes(name string, most time.Duration) (length time.Duration) {
	v := in.raw(name)
	if v == nil {
		return length
	}
	n, err := decimal(unquoted(v))
	switch {
	case err != nil:
		in.add("float_parsing", "Input should be a valid number, unable to parse string as a number", quoted(v), in.loc(name)...)
	case !(n*float64(time.Minute) >= float64(time.Millisecond)):
		in.add("greater_than", "Input should be greater than 0", quoted(v), in.loc(name)...).Ctx = map[string]any{"gt": 0}
	case n > most.Minutes():
		in.add("less_than_equal", fmt.Sprintf("Input should be less than or equal to %.0f", most.Minutes()), quoted(v), in.loc(name)...).
			Ctx = map[string]any{"le": most.Minutes()}
	default:
		length = time.Duration(n * float64(time.Minute))
	}
	return length
}

// access is a read now. It prolongs the lives of the items that it finds unless the client says otherwise.
func (s *Server) access(in *input) items.Access {
	return items.Access{Now: s.Now(), Refresh: in.boolean("refresh_ttl", true)}
}

// putItem adds or replaces an item. What to index is left alone: a search looks at whole values.
func (s *Server) putItem(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, false)
	if err != nil {
		return err
	}
	now := s.Now()
	i := items.Item{
		Namespace: in.namespace("namespace", false), Key: in.itemKey(), Value: in.bounded("value", maxValue),
		CreatedAt: now, UpdatedAt: now, TTL: in.minutes("ttl", maxTTL),
	}
	if i.Value == nil && len(in.faults) == 0 {
		in.add("missing", "Field required", nil, in.loc("value")...)
	}
	if err := errors.Join(in.err(), labels(i.Namespace)); err != nil {
		return err
	}
	if err := s.items(r.Context()).Put(r.Context(), i); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// getItem shows an item; one that is missing is null.
func (s *Server) getItem(w http.ResponseWriter, r *http.Request) error {
	in := &input{at: []any{"query"}, members: make(map[string]json.RawMessage)}
	for _, name := range []string{"namespace", "key", "refresh_ttl"} {
		if v := r.URL.Query().Get(name); v != "" {
			in.members[name], _ = json.Marshal(v)
		}
	}
	ns, key, access := strings.Split(in.str("namespace"), "."), in.itemKey(), s.access(in)
	if in.raw("namespace") == nil {
		in.add("missing", "Field required", nil, in.loc("namespace")...)
	}
	if err := errors.Join(in.err(), labels(ns)); err != nil {
		return err
	}
	i, err := s.items(r.Context()).Item(r.Context(), ns, key, access)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return reply(w, http.StatusOK, nil)
	case err != nil:
		return err
	}
	return reply(w, http.StatusOK, itemOf(i))
}

// deleteItem removes an item, whether it is there or not.
func (s *Server) deleteItem(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, false)
	if err != nil {
		return err
	}
	ns, key := in.namespace("namespace", false), in.itemKey()
	if err := errors.Join(in.err(), labels(ns)); err != nil {
		return err
	}
	if err := s.items(r.Context()).Delete(r.Context(), ns, key); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// searchItems lists items under a prefix: those that match a query, the best first, or all, the last updated first.
func (s *Server) searchItems(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, true)
	if err != nil {
		return err
	}
	p := in.page(10)
	f := items.Filter{
		Access: s.access(in), Prefix: in.namespace("namespace_prefix", true),
		Query: in.text("query", maxQuery), Match: in.match("filter"), Limit: p.limit, Offset: p.offset,
	}
	if err := errors.Join(in.err(), labels(f.Prefix)); err != nil {
		return err
	}
	list, err := s.items(r.Context()).Search(r.Context(), f)
	if errors.Is(err, store.ErrTooLarge) {
		return failf(http.StatusUnprocessableEntity, "The items of the page are too large together; ask for fewer")
	}
	if err != nil {
		return err
	}
	out := make([]itemJSON, len(list))
	for i := range list {
		out[i] = itemOf(list[i])
	}
	return reply(w, http.StatusOK, struct {
		Items []itemJSON `json:"items"`
	}{out})
}

// match are the members that values must have. Of LangGraph's operators there is $eq.
func (in *input) match(name string) map[string]json.RawMessage {
	members := in.membersOf(name)
	if len(members) > maxFilter {
		in.add("too_long", fmt.Sprintf("Dictionary should have at most %d items", maxFilter), nil, in.loc(name)...)
		return nil
	}
	for key, value := range members {
		sub := &input{at: append(in.loc(name), key)}
		if json.Unmarshal(value, &sub.members) != nil {
			continue
		}
		for op, operand := range sub.members {
			switch {
			case op == "$eq" && len(sub.members) == 1:
				members[key] = operand
			case strings.HasPrefix(op, "$"):
				in.add("value_error", "Value error, the operator is not supported; use $eq or the value itself", quoted(value), sub.loc(op)...)
			}
		}
	}
	return members
}

// searchNamespaces lists the namespaces that hold items.
func (s *Server) searchNamespaces(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, true)
	if err != nil {
		return err
	}
	p := in.page(100)
	f := items.NamespaceFilter{
		Prefix: in.namespace("prefix", true), Suffix: in.namespace("suffix", true),
		Now: s.Now(), MaxDepth: in.integer("max_depth", 0, 1, maxLabels), Limit: p.limit, Offset: p.offset,
	}
	if err := errors.Join(in.err(), labels(f.Prefix), labels(f.Suffix)); err != nil {
		return err
	}
	list, err := s.items(r.Context()).Namespaces(r.Context(), f)
	if err != nil {
		return err
	}
	if list == nil {
		list = [][]string{}
	}
	return reply(w, http.StatusOK, struct {
		Namespaces [][]string `json:"namespaces"`
	}{list})
}
