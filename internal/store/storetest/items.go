package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
)

// put stores an item of ann. The labels of its namespace are given with dots between them.
func (f *fixture) put(namespace, key, value string) store.Item {
	f.Helper()
	now := f.tick()
	i := store.Item{Namespace: strings.Split(namespace, "."), Key: key, Value: json.RawMessage(value), CreatedAt: now, UpdatedAt: now}
	f.must(f.PutItem(f.Context(), i))
	return i
}

// access is a read now.
func (f *fixture) access() store.Access { return store.Access{Now: f.now} }

// items searches and returns namespace:key of what is found.
func (f *fixture) items(filter store.ItemFilter) string {
	f.Helper()
	if filter.Now.IsZero() {
		filter.Now = f.now
	}
	is, err := f.SearchItems(f.Context(), filter)
	f.must(err)
	var out []string
	for _, i := range is {
		out = append(out, strings.Join(i.Namespace, ".")+":"+i.Key)
	}
	return strings.Join(out, " ")
}

func itemRoundTrip(f *fixture) {
	first := f.put("users.ä 🦌", "k/é'", `{"a": 1.0, "b":"\u0000<"}`)
	get := func() store.Item {
		f.Helper()
		i, err := f.Item(f.Context(), first.Namespace, first.Key, f.access())
		f.must(err)
		return i
	}
	f.equal("item", get(), first)
	second := f.put("users.ä 🦌", "k/é'", `{}`)
	second.CreatedAt = first.CreatedAt
	f.reopen()
	f.equal("with a new value", get(), second)
	f.must(f.as("bob").PutItem(f.Context(), store.Item{Namespace: first.Namespace, Key: first.Key}))
	f.equal("beside another user's", get(), second)

	for _, other := range [][]string{{"users"}, {"users", "ä 🦌", "x"}, {"ä 🦌", "users"}} {
		_, err := f.Item(f.Context(), other, first.Key, f.access())
		f.want(err, store.ErrNotFound, first.Key)
	}
	f.must(f.DeleteItem(f.Context(), first.Namespace, first.Key))
	f.must(f.DeleteItem(f.Context(), first.Namespace, first.Key))
	_, err := f.Item(f.Context(), first.Namespace, first.Key, f.access())
	f.want(err, store.ErrNotFound, "")
	bobs, err := f.as("bob").Item(f.Context(), first.Namespace, first.Key, f.access())
	f.must(err)
	f.equal("value of nil", string(bobs.Value), "{}")
	f.sound()
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
	most := store.Item{Namespace: long, Key: letters(256, 5), Value: value(1 << 20), CreatedAt: start, UpdatedAt: start}
	f.must(owner.PutItem(f.Context(), most))
	got, err := owner.Item(f.Context(), long, most.Key, f.access())
	f.must(err)
	f.equal("the largest", got, most)
	most.Value = value(1<<20 + 1)
	f.want(owner.PutItem(f.Context(), most), store.ErrTooLarge, "1048577")
	ns := []string{"a"}
	for _, bad := range []store.Item{
		{Key: "k"}, {Namespace: ns}, {Namespace: append(long, "x"), Key: "k"}, {Namespace: []string{"a", ""}, Key: "k"},
		{Namespace: []string{"a.b"}, Key: "k"}, {Namespace: []string{"a\x00"}, Key: "k"}, {Namespace: []string{"a\x01b"}, Key: "k"},
		{Namespace: []string{"\xff"}, Key: "k"}, {Namespace: []string{strings.Repeat("l", 129)}, Key: "k"}, {Namespace: ns, Key: strings.Repeat("k", 257)},
		{Namespace: ns, Key: "k\x00"}, {Namespace: ns, Key: "k", Value: json.RawMessage(`[]`)},
		{Namespace: ns, Key: "k", Value: json.RawMessage(`{`)}, {Namespace: ns, Key: "k", Value: json.RawMessage(`null`)},
	} {
		if err := f.PutItem(f.Context(), bad); err == nil {
			f.Errorf("PutItem took %.200q", fmt.Sprintf("%+v", bad))
		}
	}
	_, errs := together(5, func(i int) (_ int, err error) {
		for j := 0; j < 4 && err == nil; j++ {
			err = f.PutItem(f.Context(), store.Item{Namespace: ns, Key: fmt.Sprint(i, j), Value: value(1 << 20)})
		}
		return 0, err
	})
	f.equal("put", winners(f, errs, nil), 5)
	_, err = f.SearchItems(f.Context(), store.ItemFilter{Limit: 17, Access: f.access()})
	f.want(err, store.ErrTooLarge, "page")
	is, err := f.SearchItems(f.Context(), store.ItemFilter{Limit: 16, Offset: 1, Access: f.access()})
	f.must(err)
	f.equal("items", len(is), 16)
	_, err = f.SearchItems(f.Context(), store.ItemFilter{Query: "v", Limit: 17, Access: f.access()})
	f.want(err, store.ErrTooLarge, "page")
}

func itemSearch(f *fixture) {
	f.put("a", "1", `{"k":1}`)
	f.put("a.b", "2", `{"k":"1"}`)
	f.put("ab", "3", `{"k":1.0,"l":{"x":[1,null],"y":2}}`)
	f.put("a.b.c", "4", `{"k":null}`)
	f.put("a.c", "5", `{}`)
	f.put("a b", "6", `{"k":true}`)
	f.put("a", "1", `{"k":10e-1}`) // to the front
	f.must(f.as("bob").PutItem(f.Context(), store.Item{Namespace: []string{"a"}, Key: "b"}))
	for _, tt := range []struct {
		name   string
		filter store.ItemFilter
		want   string
	}{
		{"all", store.ItemFilter{}, "a:1 a b:6 a.c:5 a.b.c:4 ab:3 a.b:2"},
		{"prefix", store.ItemFilter{Prefix: []string{"a"}}, "a:1 a.c:5 a.b.c:4 a.b:2"},
		{"longer prefix", store.ItemFilter{Prefix: []string{"a", "b"}}, "a.b.c:4 a.b:2"},
		{"no prefix", store.ItemFilter{Prefix: []string{"b"}}, ""},
		{"page", store.ItemFilter{Prefix: []string{"a"}, Limit: 2, Offset: 1}, "a.c:5 a.b.c:4"},
		{"number", store.ItemFilter{Match: jsonMembers("k", "1")}, "a:1 ab:3"},
		{"text", store.ItemFilter{Match: jsonMembers("k", `"1"`)}, "a.b:2"},
		{"null", store.ItemFilter{Match: jsonMembers("k", `null`)}, "a.b.c:4"},
		{"object", store.ItemFilter{Match: jsonMembers("l", `{"y":2.0, "x":[1,null]}`)}, "ab:3"},
		{"another object", store.ItemFilter{Match: jsonMembers("l", `{"y":2, "x":[null,1]}`)}, ""},
		{"under a prefix", store.ItemFilter{Prefix: []string{"a"}, Match: jsonMembers("k", "1")}, "a:1"},
		{"page of some", store.ItemFilter{Match: jsonMembers("k", "1"), Limit: 1, Offset: 1}, "ab:3"},
	} {
		f.equal(tt.name, f.items(tt.filter), tt.want)
	}
	for i := range 12 {
		f.put("many", fmt.Sprint(i), `{}`)
	}
	f.equal("limit", len(strings.Fields(f.items(store.ItemFilter{}))), 10)
	for _, bad := range []store.ItemFilter{{Limit: -1}, {Limit: 1001}, {Offset: -1}, {Prefix: []string{""}}, {Prefix: []string{"a.b"}},
		{Prefix: []string{"a\x00"}}, {Match: jsonMembers("k", "x")}, {Query: strings.Repeat("q", 4097)}} {
		bad.Now = f.now
		if _, err := f.SearchItems(f.Context(), bad); err == nil {
			f.Errorf("SearchItems took %+v", bad)
		}
	}
	if _, err := f.SearchItems(f.Context(), store.ItemFilter{}); err == nil {
		f.Error("SearchItems took a read without its moment")
	}
}

func itemQuery(f *fixture) {
	f.put("a", "food", `{"text":"Ann likes PIZZA with olives","n":42}`)
	f.put("a", "city", `{"text":"Ann lives in M\u00fcnchen","tags":["home",{"deep":"Isar"}]}`)
	f.put("a.b", "drink", `{"text":"likes tea","k":true}`)
	f.put("b", "name", `{"pizza":"the name of a member is not searched","yes":true,"no":null}`)
	f.must(f.as("bob").PutItem(f.Context(), store.Item{Namespace: []string{"a"}, Key: "b", Value: json.RawMessage(`{"x":"pizza"}`)}))
	for _, tt := range []struct {
		query  string
		filter store.ItemFilter
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
		{query: "likes", filter: store.ItemFilter{Prefix: []string{"a", "b"}}, want: "a.b:drink"},
		{query: "likes", filter: store.ItemFilter{Limit: 1}, want: "a.b:drink"},
		{query: "likes", filter: store.ItemFilter{Limit: 1, Offset: 1}, want: "a:food"},
		{query: "likes", filter: store.ItemFilter{Offset: 2}, want: ""},
		{query: "likes", filter: store.ItemFilter{Match: jsonMembers("n", "42")}, want: "a:food"},
	} {
		tt.filter.Query = tt.query
		f.equal(tt.query, f.items(tt.filter), tt.want)
	}
	is, err := f.SearchItems(f.Context(), store.ItemFilter{Query: "ann pizza", Access: f.access()})
	f.must(err)
	f.equal("scores", []float64{is[0].Score, is[1].Score}, []float64{2.0 / 3, 1.0 / 3})
	f.equal("whole", is[0].Value, json.RawMessage(`{"text":"Ann likes PIZZA with olives","n":42}`))
	for i := range 60 {
		f.put("many", fmt.Sprint(i), fmt.Sprintf(`{"t":"%s"}`, strings.Repeat("deer ", 1+i%2)+[]string{"", "fawn"}[i/59]))
	}
	f.equal("the best of many", f.items(store.ItemFilter{Query: "deer fawn", Limit: 3}), "many:59 many:58 many:57")
}

func itemTTL(f *fixture) {
	const ttl = time.Minute
	live := f.put("a", "1", `{"t":"x"}`)
	live.TTL, live.Expires = ttl, live.UpdatedAt.Add(ttl)
	f.must(f.PutItem(f.Context(), live))
	f.put("b", "2", `{"t":"x"}`)
	at := func(d time.Duration, refresh bool) store.Access {
		return store.Access{Now: live.UpdatedAt.Add(d), Refresh: refresh}
	}
	item := func(a store.Access) error {
		i, err := f.Item(f.Context(), live.Namespace, live.Key, a)
		if err == nil {
			f.equal("ttl", i.TTL, ttl)
		}
		return err
	}
	got, err := f.Item(f.Context(), live.Namespace, live.Key, at(0, false))
	f.must(err)
	f.equal("item", got, live)

	f.must(item(at(ttl-1000, false)))
	f.want(item(at(ttl, false)), store.ErrNotFound, "")
	for query, want := range map[string][2]string{"": {"b:2 a:1", "b:2"}, "x": {"b:2 a:1", "b:2"}} {
		f.equal("found before", f.items(store.ItemFilter{Query: query, Access: at(ttl-1000, false)}), want[0])
		f.equal("found after", f.items(store.ItemFilter{Query: query, Access: at(ttl, true)}), want[1])
	}
	for d, want := range map[time.Duration]int{ttl - 1000: 2, ttl: 1} {
		ns, err := f.Namespaces(f.Context(), store.NamespaceFilter{Now: at(d, false).Now})
		f.must(err)
		f.equal("namespaces", len(ns), want)
	}
	f.want(item(at(ttl, true)), store.ErrNotFound, "") // what is over does not come back
	f.want(item(at(ttl, false)), store.ErrNotFound, "")

	f.must(item(at(ttl/2, true))) // a read that refreshes
	f.must(item(at(ttl*3/2-1000, false)))
	f.want(item(at(ttl*3/2, false)), store.ErrNotFound, "")
	f.must(item(at(ttl/4, true))) // an earlier clock takes nothing away
	f.must(item(at(ttl*3/2-1000, false)))
	f.equal("a search that refreshes", f.items(store.ItemFilter{Prefix: []string{"a"}, Access: at(ttl, true)}), "a:1")
	f.must(item(at(2*ttl-1000, false)))
	f.equal("a query that refreshes", f.items(store.ItemFilter{Prefix: []string{"a"}, Query: "x", Access: at(2*ttl-1000, true)}), "a:1")
	f.must(item(at(3*ttl-2000, false)))
	f.want(item(at(3*ttl, false)), store.ErrNotFound, "")

	again := live // over, and put again: a new item, as if it had been removed
	again.CreatedAt, again.UpdatedAt = live.UpdatedAt.Add(5*ttl), live.UpdatedAt.Add(5*ttl)
	again.Expires = again.UpdatedAt.Add(ttl)
	f.must(f.PutItem(f.Context(), again))
	f.reopen()
	got, err = f.Item(f.Context(), live.Namespace, live.Key, at(5*ttl, false))
	f.must(err)
	f.equal("put again", got, again)
	later := again
	later.CreatedAt, later.UpdatedAt, later.TTL, later.Expires = later.CreatedAt.Add(time.Second), later.UpdatedAt.Add(time.Second), 0, time.Time{}
	f.must(f.PutItem(f.Context(), later)) // now for ever
	later.CreatedAt = again.CreatedAt
	got, err = f.Item(f.Context(), live.Namespace, live.Key, at(1000*ttl, true))
	f.must(err)
	f.equal("without a time to live", got, later)

	for _, bad := range []time.Duration{-1, 1, time.Microsecond - 1, 100*365*24*time.Hour + 1} {
		live.TTL = bad
		if f.PutItem(f.Context(), live) == nil {
			f.Errorf("PutItem took a time to live of %v", bad)
		}
	}
	if _, err := f.Item(f.Context(), live.Namespace, live.Key, store.Access{}); err == nil {
		f.Error("Item took a read without its moment")
	}
	if _, err := f.Namespaces(f.Context(), store.NamespaceFilter{}); err == nil {
		f.Error("Namespaces took a read without its moment")
	}
	f.sound()
}

// itemCollect: items whose time to live is over are removed, and no others.
func itemCollect(f *fixture) {
	now := f.tick()
	for i := range 300 {
		f.must(f.PutItem(f.Context(), store.Item{Namespace: []string{"a"}, Key: fmt.Sprint(i), CreatedAt: now, UpdatedAt: now,
			TTL: time.Duration(i%3) * time.Minute}))
	}
	count := func(at time.Time) int { // also of those that are over
		is, err := f.SearchItems(f.Context(), store.ItemFilter{Limit: 1000, Access: store.Access{Now: at}})
		f.must(err)
		return len(is)
	}
	after := store.Retention{Items: now.Add(time.Minute)}
	for _, tt := range []struct {
		r             store.Retention
		dropped, left int
	}{
		{store.Retention{}, 0, 300}, {store.Retention{Items: now}, 0, 300}, {store.Retention{Items: after.Items, DryRun: true}, 100, 300},
		{after, 100, 200}, {after, 0, 200}, {store.Retention{Items: now.Add(time.Hour)}, 100, 100},
	} {
		c, err := f.Collect(f.Context(), tt.r)
		f.must(err)
		f.equal("dropped", c, store.Collected{Items: int64(tt.dropped)})
		f.equal("left", count(now), tt.left)
	}
}

func itemNamespaces(f *fixture) {
	for _, ns := range []string{"a", "a.b", "a.b.c", "a-b", "a b.c", "ab.c", "A", "é.c", "b.c", "a.b.d", "x.b.c"} {
		f.put(ns, "1", `{}`)
		f.put(ns, "2", `{}`)
	}
	f.must(f.as("bob").PutItem(f.Context(), store.Item{Namespace: []string{"bob"}, Key: "b"}))
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
		filter := store.NamespaceFilter{Prefix: split(tt.prefix), Suffix: split(tt.suffix), MaxDepth: tt.depth, Limit: tt.limit, Offset: tt.offset, Now: f.now}
		ns, err := f.Namespaces(f.Context(), filter)
		f.must(err)
		var got []string
		for _, labels := range ns {
			got = append(got, strings.Join(labels, "."))
		}
		f.equal(fmt.Sprintf("%+v", filter), strings.Join(got, "|"), tt.want)
	}
	for _, bad := range []store.NamespaceFilter{{Limit: -1}, {Limit: 1001}, {Offset: -1}, {MaxDepth: -1}, {Prefix: []string{""}}, {Suffix: []string{"a.b"}}} {
		bad.Now = f.now
		if _, err := f.Namespaces(f.Context(), bad); err == nil {
			f.Errorf("Namespaces took %+v", bad)
		}
	}
}

// itemRace: of puts at the same time one is the last, and the item is made once.
func itemRace(f *fixture) { itemsOfBoth(f, f) }

func itemsOfBoth(a, b *fixture) {
	_, errs := together(16, func(i int) (int, error) {
		return 0, []*fixture{a, b}[i%2].PutItem(a.Context(), store.Item{Namespace: []string{"a"}, Key: "k",
			Value: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
	})
	a.equal("done", winners(a, errs, nil), 16)
	a.equal("items", a.items(store.ItemFilter{}), "a:k")
}
