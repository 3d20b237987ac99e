package items_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestItems(t *testing.T) {
	var cases []databases.Case
	for _, c := range []struct {
		name string
		test func(*fixture)
	}{
		{"round trip", itemRoundTrip}, {"bounds", itemBounds}, {"search", itemSearch}, {"query", itemQuery},
		{"time to live", itemTTL}, {"collected", itemCollect}, {"namespaces", itemNamespaces}, {"race", itemRace},
		{"of others", itemsOfOthers},
	} {
		cases = append(cases, databases.Case{Name: c.name, Test: func(f *databases.Fixture) { c.test(newFixture(f)) }})
	}
	databases.Run(t, []database.Feature{items.Feature()}, cases)
}

// fixture is what ann has.
type fixture struct {
	*databases.Fixture
	*items.Mine

	now time.Time
}

func newFixture(f *databases.Fixture) *fixture {
	return &fixture{f, items.New(f).For(f.Ann()), start}
}

// start is the first time of a test's clock: a whole microsecond, which is what stores keep.
var start = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

func (f *fixture) tick() time.Time {
	f.now = f.now.Add(time.Second)
	return f.now
}

func (f *fixture) as(user string) *items.Mine { return items.New(f.Store).For(access.FromRow(user)) }

func (f *fixture) reopen() {
	f.Reopen()
	f.Mine = items.New(f.Store).For(f.Ann())
}

// members makes a filter from names and values in turn.
func members(pairs ...string) map[string]json.RawMessage {
	m := make(map[string]json.RawMessage)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}

// itemsOfOthers: by the ids of what is ann's bob finds nothing, and nothing of hers changes; nobody is refused.
func itemsOfOthers(f *fixture) {
	hers := f.add("a.b", "k", `{"t":"deer"}`)
	for user, want := range map[access.User]error{f.Bob(): nil, {}: access.ErrNoUser} {
		his := items.New(f.Store).For(user)
		_, err := his.Item(f.Context(), hers.Namespace, hers.Key, f.access())
		if want == nil {
			f.Want(err, store.ErrNotFound, "k")
		} else {
			f.Want(err, want, "")
		}
		for _, filter := range []items.Filter{{Prefix: hers.Namespace}, {Query: "deer"}} {
			filter.Access = f.access()
			found, err := his.Search(f.Context(), filter)
			f.Equal("found", len(found), 0)
			f.Equal("error", errors.Is(err, want), true)
		}
		ns, err := his.Namespaces(f.Context(), items.NamespaceFilter{Now: f.now})
		f.Equal("namespaces", len(ns), 0)
		f.Equal("error", errors.Is(err, want), true)
		f.Equal("delete", errors.Is(his.Delete(f.Context(), hers.Namespace, hers.Key), want), true)
		f.Equal("put", errors.Is(his.Put(f.Context(), items.Item{Namespace: hers.Namespace, Key: hers.Key}), want),
			true)
	}
	got, err := f.Item(f.Context(), hers.Namespace, hers.Key, f.access())
	f.Must(err)
	f.Equal("hers", got, hers)
}

// put stores an item of ann. The labels of its namespace are given with dots between them.
func (f *fixture) add(namespace, key, value string) items.Item {
	f.Helper()
	now := f.tick()
	i := items.Item{Namespace: strings.Split(namespace, "."), Key: key, Value: json.RawMessage(value), CreatedAt: now,
		UpdatedAt: now}
	f.Must(f.Put(f.Context(), i))
	return i
}

// access is a read now.
func (f *fixture) access() items.Access { return items.Access{Now: f.now} }

// items searches and returns namespace:key of what is found.
func (f *fixture) found(filter items.Filter) string {
	f.Helper()
	if filter.Now.IsZero() {
		filter.Now = f.now
	}
	is, err := f.Search(f.Context(), filter)
	f.Must(err)
	var out []string
	for _, i := range is {
		out = append(out, strings.Join(i.Namespace, ".")+":"+i.Key)
	}
	return strings.Join(out, " ")
}

func itemRoundTrip(f *fixture) {
	first := f.add("users.ä 🦌", "k/é'", `{"a": 1.0, "b":"\u0000<"}`)
	get := func() items.Item {
		f.Helper()
		i, err := f.Item(f.Context(), first.Namespace, first.Key, f.access())
		f.Must(err)
		return i
	}
	f.Equal("item", get(), first)
	second := f.add("users.ä 🦌", "k/é'", `{}`)
	second.CreatedAt = first.CreatedAt
	f.reopen()
	f.Equal("with a new value", get(), second)
	f.Must(f.as("bob").Put(f.Context(), items.Item{Namespace: first.Namespace, Key: first.Key}))
	f.Equal("beside another user's", get(), second)

	for _, other := range [][]string{{"users"}, {"users", "ä 🦌", "x"}, {"ä 🦌", "users"}} {
		_, err := f.Item(f.Context(), other, first.Key, f.access())
		f.Want(err, store.ErrNotFound, first.Key)
	}
	f.Must(f.Delete(f.Context(), first.Namespace, first.Key))
	f.Must(f.Delete(f.Context(), first.Namespace, first.Key))
	_, err := f.Item(f.Context(), first.Namespace, first.Key, f.access())
	f.Want(err, store.ErrNotFound, "")
	bobs, err := f.as("bob").Item(f.Context(), first.Namespace, first.Key, f.access())
	f.Must(err)
	f.Equal("value of nil", string(bobs.Value), "{}")
	f.Sound()
}

func itemBounds(f *fixture) {
	letters := func(n, seed int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('0' + (i*i*31+i*seed+seed)%75)
		}
		return strings.ReplaceAll(string(b), ".", "x")
	}
	var long []string
	for i := range 16 {
		long = append(long, letters(128, 7*i+1))
	}
	value := func(n int) json.RawMessage { return json.RawMessage(`{"v":"` + strings.Repeat("v", n-8) + `"}`) }
	owner := f.as(letters(256, 3))
	most := items.Item{Namespace: long, Key: letters(256, 5), Value: value(1 << 20), CreatedAt: start, UpdatedAt: start}
	f.Must(owner.Put(f.Context(), most))
	got, err := owner.Item(f.Context(), long, most.Key, f.access())
	f.Must(err)
	f.Equal("the largest", got, most)
	most.Value = value(1<<20 + 1)
	f.Want(owner.Put(f.Context(), most), store.ErrTooLarge, "1048577")
	ns := []string{"a"}
	for _, bad := range []items.Item{
		{Key: "k"}, {Namespace: ns}, {Namespace: append(long, "x"), Key: "k"}, {Namespace: []string{"a", ""}, Key: "k"},
		{Namespace: []string{"a.b"}, Key: "k"}, {Namespace: []string{"a\x00"}, Key: "k"},
		{Namespace: []string{"a\x01b"}, Key: "k"}, {Namespace: []string{"\xff"}, Key: "k"},
		{Namespace: []string{strings.Repeat("l", 129)}, Key: "k"}, {Namespace: ns, Key: strings.Repeat("k", 257)},
		{Namespace: ns, Key: "k\x00"}, {Namespace: ns, Key: "k", Value: json.RawMessage(`[]`)},
		{Namespace: ns, Key: "k", Value: json.RawMessage(`{`)},
		{Namespace: ns, Key: "k", Value: json.RawMessage(`null`)},
	} {
		if err := f.Put(f.Context(), bad); err == nil {
			f.Errorf("PutItem took %.200q", fmt.Sprintf("%+v", bad))
		}
	}
	f.Equal("put", f.Together(5, nil, func(i int) (err error) {
		for j := 0; j < 4 && err == nil; j++ {
			err = f.Put(f.Context(), items.Item{Namespace: ns, Key: fmt.Sprint(i, j), Value: value(1 << 20)})
		}
		return err
	}), 5)
	_, err = f.Search(f.Context(), items.Filter{Limit: 17, Access: f.access()})
	f.Want(err, store.ErrTooLarge, "page")
	is, err := f.Search(f.Context(), items.Filter{Limit: 16, Offset: 1, Access: f.access()})
	f.Must(err)
	f.Equal("items", len(is), 16)
	_, err = f.Search(f.Context(), items.Filter{Query: "v", Limit: 17, Access: f.access()})
	f.Want(err, store.ErrTooLarge, "page")
}

func itemSearch(f *fixture) {
	f.add("a", "1", `{"k":1}`)
	f.add("a.b", "2", `{"k":"1"}`)
	f.add("ab", "3", `{"k":1.0,"l":{"x":[1,null],"y":2}}`)
	f.add("a.b.c", "4", `{"k":null}`)
	f.add("a.c", "5", `{}`)
	f.add("a b", "6", `{"k":true}`)
	f.add("a", "1", `{"k":10e-1}`) // to the front
	f.Must(f.as("bob").Put(f.Context(), items.Item{Namespace: []string{"a"}, Key: "b"}))
	for _, tt := range []struct {
		name   string
		filter items.Filter
		want   string
	}{
		{"all", items.Filter{}, "a:1 a b:6 a.c:5 a.b.c:4 ab:3 a.b:2"},
		{"prefix", items.Filter{Prefix: []string{"a"}}, "a:1 a.c:5 a.b.c:4 a.b:2"},
		{"longer prefix", items.Filter{Prefix: []string{"a", "b"}}, "a.b.c:4 a.b:2"},
		{"no prefix", items.Filter{Prefix: []string{"b"}}, ""},
		{"page", items.Filter{Prefix: []string{"a"}, Limit: 2, Offset: 1}, "a.c:5 a.b.c:4"},
		{"number", items.Filter{Match: members("k", "1")}, "a:1 ab:3"},
		{"text", items.Filter{Match: members("k", `"1"`)}, "a.b:2"},
		{"null", items.Filter{Match: members("k", `null`)}, "a.b.c:4"},
		{"object", items.Filter{Match: members("l", `{"y":2.0, "x":[1,null]}`)}, "ab:3"},
		{"another object", items.Filter{Match: members("l", `{"y":2, "x":[null,1]}`)}, ""},
		{"under a prefix", items.Filter{Prefix: []string{"a"}, Match: members("k", "1")}, "a:1"},
		{"page of some", items.Filter{Match: members("k", "1"), Limit: 1, Offset: 1}, "ab:3"},
	} {
		f.Equal(tt.name, f.found(tt.filter), tt.want)
	}
	for i := range 12 {
		f.add("many", fmt.Sprint(i), `{}`)
	}
	f.Equal("limit", len(strings.Fields(f.found(items.Filter{}))), 10)
	for _, bad := range []items.Filter{{Limit: -1}, {Limit: 1001}, {Offset: -1}, {Prefix: []string{""}},
		{Prefix: []string{"a.b"}},
		{Prefix: []string{"a\x00"}}, {Match: members("k", "x")}, {Query: strings.Repeat("q", 4097)}} {
		bad.Now = f.now
		if _, err := f.Search(f.Context(), bad); err == nil {
			f.Errorf("SearchItems took %+v", bad)
		}
	}
	if _, err := f.Search(f.Context(), items.Filter{}); err == nil {
		f.Error("SearchItems took a read without its moment")
	}
}

func itemQuery(f *fixture) {
	f.add("a", "food", `{"text":"Ann likes PIZZA with olives","n":42}`)
	f.add("a", "city", `{"text":"Ann lives in M\u00fcnchen","tags":["home",{"deep":"Isar"}]}`)
	f.add("a.b", "drink", `{"text":"likes tea","k":true}`)
	f.add("b", "name", `{"pizza":"the name of a member is not searched","yes":true,"no":null}`)
	f.Must(f.as("bob").Put(f.Context(),
		items.Item{Namespace: []string{"a"}, Key: "b", Value: json.RawMessage(`{"x":"pizza"}`)}))
	for _, tt := range []struct {
		query  string
		filter items.Filter
		want   string
	}{
		{query: "pizza", want: "a:food"},
		{query: "PiZ", want: "a:food"},
		{query: "42", want: "a:food"},
		{query: "MÜNCHEN", want: "a:city"},
		{query: "isar", want: "a:city"},
		{query: "tru", want: ""},
		{query: "likes", want: "a.b:drink a:food"},
		{query: "Ann, what pizza do you like?", want: "a:food a.b:drink a:city"},
		{query: "likes tea or pizza", want: "a.b:drink a:food"},
		{query: "in m", want: "a:city b:name"}, // the whole text counts as a word does
		{query: "", want: "b:name a.b:drink a:city a:food"},
		{query: " \t\n", want: "b:name a.b:drink a:city a:food"},
		{query: "?!", want: ""},
		{query: "nothing", want: ""},
		{query: "likes", filter: items.Filter{Prefix: []string{"a", "b"}}, want: "a.b:drink"},
		{query: "likes", filter: items.Filter{Limit: 1}, want: "a.b:drink"},
		{query: "likes", filter: items.Filter{Limit: 1, Offset: 1}, want: "a:food"},
		{query: "likes", filter: items.Filter{Offset: 2}, want: ""},
		{query: "likes", filter: items.Filter{Match: members("n", "42")}, want: "a:food"},
	} {
		tt.filter.Query = tt.query
		f.Equal(tt.query, f.found(tt.filter), tt.want)
	}
	is, err := f.Search(f.Context(), items.Filter{Query: "ann pizza", Access: f.access()})
	f.Must(err)
	f.Equal("scores", []float64{is[0].Score, is[1].Score}, []float64{2.0 / 3, 1.0 / 3})
	f.Equal("whole", is[0].Value, json.RawMessage(`{"text":"Ann likes PIZZA with olives","n":42}`))
	for i := range 60 {
		f.add("many", fmt.Sprint(i), fmt.Sprintf(`{"t":"%s"}`, strings.Repeat("deer ", 1+i%2)+
			[]string{"", "fawn"}[i/59]))
	}
	f.Equal("the best of many", f.found(items.Filter{Query: "deer fawn", Limit: 3}), "many:59 many:58 many:57")
}

func itemTTL(f *fixture) {
	const ttl = time.Minute
	live := f.add("a", "1", `{"t":"x"}`)
	live.TTL, live.Expires = ttl, live.UpdatedAt.Add(ttl)
	f.Must(f.Put(f.Context(), live))
	f.add("b", "2", `{"t":"x"}`)
	at := func(d time.Duration, refresh bool) items.Access {
		return items.Access{Now: live.UpdatedAt.Add(d), Refresh: refresh}
	}
	item := func(a items.Access) error {
		i, err := f.Item(f.Context(), live.Namespace, live.Key, a)
		if err == nil {
			f.Equal("ttl", i.TTL, ttl)
		}
		return err
	}
	got, err := f.Item(f.Context(), live.Namespace, live.Key, at(0, false))
	f.Must(err)
	f.Equal("item", got, live)

	f.Must(item(at(ttl-1000, false)))
	f.Want(item(at(ttl, false)), store.ErrNotFound, "")
	for query, want := range map[string][2]string{"": {"b:2 a:1", "b:2"}, "x": {"b:2 a:1", "b:2"}} {
		f.Equal("found before", f.found(items.Filter{Query: query, Access: at(ttl-1000, false)}), want[0])
		f.Equal("found after", f.found(items.Filter{Query: query, Access: at(ttl, true)}), want[1])
	}
	for d, want := range map[time.Duration]int{ttl - 1000: 2, ttl: 1} {
		ns, err := f.Namespaces(f.Context(), items.NamespaceFilter{Now: at(d, false).Now})
		f.Must(err)
		f.Equal("namespaces", len(ns), want)
	}
	f.Want(item(at(ttl, true)), store.ErrNotFound, "") // what is over does not come back
	f.Want(item(at(ttl, false)), store.ErrNotFound, "")

	f.Must(item(at(ttl/2, true))) // a read that refreshes
	f.Must(item(at(ttl*3/2-1000, false)))
	f.Want(item(at(ttl*3/2, false)), store.ErrNotFound, "")
	f.Must(item(at(ttl/4, true))) // an earlier clock takes nothing away
	f.Must(item(at(ttl*3/2-1000, false)))
	f.Equal("a search that refreshes", f.found(items.Filter{Prefix: []string{"a"}, Access: at(ttl, true)}), "a:1")
	f.Must(item(at(2*ttl-1000, false)))
	f.Equal("a query that refreshes",
		f.found(items.Filter{Prefix: []string{"a"}, Query: "x", Access: at(2*ttl-1000, true)}), "a:1")
	f.Must(item(at(3*ttl-2000, false)))
	f.Want(item(at(3*ttl, false)), store.ErrNotFound, "")

	again := live // over, and put again: a new item, as if it had been removed
	again.CreatedAt, again.UpdatedAt = live.UpdatedAt.Add(5*ttl), live.UpdatedAt.Add(5*ttl)
	again.Expires = again.UpdatedAt.Add(ttl)
	f.Must(f.Put(f.Context(), again))
	f.reopen()
	got, err = f.Item(f.Context(), live.Namespace, live.Key, at(5*ttl, false))
	f.Must(err)
	f.Equal("put again", got, again)
	later := again
	later.CreatedAt, later.UpdatedAt, later.TTL, later.Expires = later.CreatedAt.Add(time.Second),
		later.UpdatedAt.Add(time.Second), 0, time.Time{}
	f.Must(f.Put(f.Context(), later)) // now for ever
	later.CreatedAt = again.CreatedAt
	got, err = f.Item(f.Context(), live.Namespace, live.Key, at(1000*ttl, true))
	f.Must(err)
	f.Equal("without a time to live", got, later)

	for _, bad := range []time.Duration{-1, 1, time.Microsecond - 1, 100*365*24*time.Hour + 1} {
		live.TTL = bad
		if f.Put(f.Context(), live) == nil {
			f.Errorf("PutItem took a time to live of %v", bad)
		}
	}
	if _, err := f.Item(f.Context(), live.Namespace, live.Key, items.Access{}); err == nil {
		f.Error("Item took a read without its moment")
	}
	if _, err := f.Namespaces(f.Context(), items.NamespaceFilter{}); err == nil {
		f.Error("Namespaces took a read without its moment")
	}
	f.Sound()
}

// itemCollect: items whose time to live is over are removed, and no others.
func itemCollect(f *fixture) {
	now := f.tick()
	for i := range 300 {
		f.Must(f.Put(f.Context(), items.Item{Namespace: []string{"a"}, Key: fmt.Sprint(i), CreatedAt: now,
			UpdatedAt: now,
			TTL:       time.Duration(i%3) * time.Minute}))
	}
	count := func(at time.Time) int { // also of those that are over
		is, err := f.Search(f.Context(), items.Filter{Limit: 1000, Access: items.Access{Now: at}})
		f.Must(err)
		return len(is)
	}
	after := store.Retention{Rows: now.Add(time.Minute)}
	for _, tt := range []struct {
		r             store.Retention
		dropped, left int
	}{
		{store.Retention{}, 0, 300}, {store.Retention{Rows: now}, 0, 300},
		{store.Retention{Rows: after.Rows, DryRun: true}, 100, 300}, {after, 100, 200}, {after, 0, 200},
		{store.Retention{Rows: now.Add(time.Hour)}, 100, 100},
	} {
		c, err := f.System().Collect(f.Context(), tt.r)
		f.Must(err)
		f.Equal("dropped", c, store.Collected{Rows: int64(tt.dropped)})
		f.Equal("left", count(now), tt.left)
	}
}

func itemNamespaces(f *fixture) {
	for _, ns := range []string{"a", "a.b", "a.b.c", "a-b", "a b.c", "ab.c", "A", "é.c", "b.c", "a.b.d", "x.b.c"} {
		f.add(ns, "1", `{}`)
		f.add(ns, "2", `{}`)
	}
	f.Must(f.as("bob").Put(f.Context(), items.Item{Namespace: []string{"bob"}, Key: "b"}))
	split := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(s, ".")
	}
	for _, tt := range []struct {
		prefix, suffix       string
		depth, limit, offset int
		want                 string
	}{
		{want: "A|a|a.b|a.b.c|a.b.d|a b.c|a-b|ab.c|b.c|x.b.c|é.c"},
		{limit: 2, offset: 1, want: "a|a.b"},
		{offset: 11, want: ""},
		{prefix: "a", want: "a|a.b|a.b.c|a.b.d"},
		{prefix: "a.b", want: "a.b|a.b.c|a.b.d"},
		{suffix: "c", want: "a.b.c|a b.c|ab.c|b.c|x.b.c|é.c"},
		{suffix: "b.c", want: "a.b.c|b.c|x.b.c"},
		{prefix: "a", suffix: "c", want: "a.b.c"},
		{depth: 1, want: "A|a|a b|a-b|ab|b|x|é"},
		{depth: 2, want: "A|a|a.b|a b.c|a-b|ab.c|b.c|x.b|é.c"},
		{depth: 1, suffix: "c", limit: 2, offset: 1, want: "a b|ab"},
		{depth: 2, prefix: "a", want: "a|a.b"},
		{prefix: "nobody", want: ""},
	} {
		filter := items.NamespaceFilter{Prefix: split(tt.prefix), Suffix: split(tt.suffix), MaxDepth: tt.depth,
			Limit: tt.limit, Offset: tt.offset, Now: f.now}
		ns, err := f.Namespaces(f.Context(), filter)
		f.Must(err)
		var got []string
		for _, labels := range ns {
			got = append(got, strings.Join(labels, "."))
		}
		f.Equal(fmt.Sprintf("%+v", filter), strings.Join(got, "|"), tt.want)
	}
	for _, bad := range []items.NamespaceFilter{{Limit: -1}, {Limit: 1001}, {Offset: -1}, {MaxDepth: -1},
		{Prefix: []string{""}}, {Suffix: []string{"a.b"}}} {
		bad.Now = f.now
		if _, err := f.Namespaces(f.Context(), bad); err == nil {
			f.Errorf("Namespaces took %+v", bad)
		}
	}
}

// itemRace: of puts at the same time one is the last, and the item is made once.
func itemRace(f *fixture) {
	f.Equal("done", f.Together(16, nil, func(i int) error {
		return f.Put(f.Context(),
			items.Item{Namespace: []string{"a"}, Key: "k", Value: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
	}), 16)
	f.Equal("items", f.found(items.Filter{}), "a:k")
}
