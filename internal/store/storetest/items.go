package storetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/store"
)

// put stores an item of ann. The labels of its namespace are given with dots between them.
func (f *fixture) put(namespace, key, value string) store.Item {
	f.Helper()
	now := f.tick()
	i := store.Item{UserID: "ann", Namespace: strings.Split(namespace, "."), Key: key, Value: json.RawMessage(value), CreatedAt: now, UpdatedAt: now}
	f.must(f.PutItem(f.Context(), i))
	return i
}

// items searches and returns namespace:key of what is found.
func (f *fixture) items(filter store.ItemFilter) string {
	f.Helper()
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
		i, err := f.Item(f.Context(), "ann", first.Namespace, first.Key)
		f.must(err)
		return i
	}
	f.equal("item", get(), first)
	second := f.put("users.ä 🦌", "k/é'", `{}`)
	second.CreatedAt = first.CreatedAt
	f.reopen()
	f.equal("with a new value", get(), second)
	f.must(f.PutItem(f.Context(), store.Item{UserID: "bob", Namespace: first.Namespace, Key: first.Key}))
	f.equal("beside another user's", get(), second)

	for _, other := range [][]string{{"users"}, {"users", "ä 🦌", "x"}, {"ä 🦌", "users"}} {
		_, err := f.Item(f.Context(), "ann", other, first.Key)
		f.want(err, store.ErrNotFound, first.Key)
	}
	f.must(f.DeleteItem(f.Context(), "ann", first.Namespace, first.Key))
	f.must(f.DeleteItem(f.Context(), "ann", first.Namespace, first.Key))
	_, err := f.Item(f.Context(), "ann", first.Namespace, first.Key)
	f.want(err, store.ErrNotFound, "")
	bobs, err := f.Item(f.Context(), "bob", first.Namespace, first.Key)
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
	most := store.Item{UserID: letters(256, 3), Namespace: long, Key: letters(256, 5), Value: value(1 << 20), CreatedAt: start, UpdatedAt: start}
	f.must(f.PutItem(f.Context(), most))
	got, err := f.Item(f.Context(), most.UserID, long, most.Key)
	f.must(err)
	f.equal("the largest", got, most)
	most.Value = value(1<<20 + 1)
	f.want(f.PutItem(f.Context(), most), store.ErrTooLarge, "1048577")
	ns := []string{"a"}
	for _, bad := range []store.Item{
		{Key: "k"}, {Namespace: ns}, {Namespace: append(long, "x"), Key: "k"}, {Namespace: []string{"a", ""}, Key: "k"},
		{Namespace: []string{"a.b"}, Key: "k"}, {Namespace: []string{"a\x00"}, Key: "k"}, {Namespace: []string{"a\x01b"}, Key: "k"},
		{Namespace: []string{"\xff"}, Key: "k"}, {Namespace: []string{strings.Repeat("l", 129)}, Key: "k"}, {Namespace: ns, Key: strings.Repeat("k", 257)},
		{Namespace: ns, Key: "k\x00"}, {Namespace: ns, Key: "k", UserID: "\x00"}, {Namespace: ns, Key: "k", Value: json.RawMessage(`[]`)},
		{Namespace: ns, Key: "k", Value: json.RawMessage(`{`)}, {Namespace: ns, Key: "k", Value: json.RawMessage(`null`)},
	} {
		if err := f.PutItem(f.Context(), bad); err == nil {
			f.Errorf("PutItem took %.200q", fmt.Sprintf("%+v", bad))
		}
	}
	_, errs := together(5, func(i int) (_ int, err error) {
		for j := 0; j < 13 && err == nil; j++ {
			err = f.PutItem(f.Context(), store.Item{UserID: "ann", Namespace: ns, Key: fmt.Sprint(i, j), Value: value(1 << 20)})
		}
		return 0, err
	})
	f.equal("put", winners(f, errs, nil), 5)
	_, err = f.SearchItems(f.Context(), store.ItemFilter{UserID: "ann", Limit: 65})
	f.want(err, store.ErrTooLarge, "page")
	is, err := f.SearchItems(f.Context(), store.ItemFilter{UserID: "ann", Limit: 64, Offset: 1})
	f.must(err)
	f.equal("items", len(is), 64)
}

func itemSearch(f *fixture) {
	f.put("a", "1", `{"k":1}`)
	f.put("a.b", "2", `{"k":"1"}`)
	f.put("ab", "3", `{"k":1.0,"l":{"x":[1,null],"y":2}}`)
	f.put("a.b.c", "4", `{"k":null}`)
	f.put("a.c", "5", `{}`)
	f.put("a b", "6", `{"k":true}`)
	f.put("a", "1", `{"k":10e-1}`) // to the front
	f.must(f.PutItem(f.Context(), store.Item{UserID: "bob", Namespace: []string{"a"}, Key: "b"}))
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
		tt.filter.UserID = "ann"
		f.equal(tt.name, f.items(tt.filter), tt.want)
	}
	f.equal("of all users", f.items(store.ItemFilter{Prefix: []string{"a"}, Limit: 2, Offset: 3}), "a.b:2 a:b")
	for i := range 12 {
		f.put("many", fmt.Sprint(i), `{}`)
	}
	f.equal("limit", len(strings.Fields(f.items(store.ItemFilter{}))), 10)
	for _, bad := range []store.ItemFilter{{Limit: -1}, {Limit: 1001}, {Offset: -1}, {Prefix: []string{""}}, {Prefix: []string{"a.b"}},
		{Prefix: []string{"a\x00"}}, {Match: jsonMembers("k", "x")}} {
		if _, err := f.SearchItems(f.Context(), bad); err == nil {
			f.Errorf("SearchItems took %+v", bad)
		}
	}
}

func itemNamespaces(f *fixture) {
	for _, ns := range []string{"a", "a.b", "a.b.c", "a-b", "a b.c", "ab.c", "A", "é.c", "b.c", "a.b.d", "x.b.c"} {
		f.put(ns, "1", `{}`)
		f.put(ns, "2", `{}`)
	}
	f.must(f.PutItem(f.Context(), store.Item{UserID: "bob", Namespace: []string{"bob"}, Key: "b"}))
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
		filter := store.NamespaceFilter{UserID: "ann", Prefix: split(tt.prefix), Suffix: split(tt.suffix), MaxDepth: tt.depth, Limit: tt.limit, Offset: tt.offset}
		ns, err := f.Namespaces(f.Context(), filter)
		f.must(err)
		var got []string
		for _, labels := range ns {
			got = append(got, strings.Join(labels, "."))
		}
		f.equal(fmt.Sprintf("%+v", filter), strings.Join(got, "|"), tt.want)
	}
	for _, bad := range []store.NamespaceFilter{{Limit: -1}, {Limit: 1001}, {Offset: -1}, {MaxDepth: -1}, {Prefix: []string{""}}, {Suffix: []string{"a.b"}}} {
		if _, err := f.Namespaces(f.Context(), bad); err == nil {
			f.Errorf("Namespaces took %+v", bad)
		}
	}
}

// itemRace: of puts at the same time one is the last, and the item is made once.
func itemRace(f *fixture) { itemsOfBoth(f, f) }

func itemsOfBoth(a, b *fixture) {
	_, errs := together(16, func(i int) (int, error) {
		return 0, []*fixture{a, b}[i%2].PutItem(a.Context(), store.Item{UserID: "ann", Namespace: []string{"a"}, Key: "k",
			Value: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
	})
	a.equal("done", winners(a, errs, nil), 16)
	a.equal("items", a.items(store.ItemFilter{UserID: "ann"}), "a:k")
}
