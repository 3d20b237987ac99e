package gateway

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/items"
)

func TestItems(t *testing.T) {
	k := newServer(t, nil)
	if err := k.Items.For(access.FromRow("other")).Put(t.Context(), items.Item{
		Namespace: []string{"users"}, Key: "theirs", Value: []byte(`{}`), CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}); err != nil {
		t.Fatal(err)
	}
	put := func(name, body string, status int, want string) scenario {
		return scenario{name: name, method: "PUT", path: "/store/items", body: body, status: status, want: want}
	}
	search := func(name, body, want string) scenario {
		return scenario{name: name, method: "POST", path: "/store/items/search", body: body, status: 200, want: want}
	}
	spaces := func(name, body, want string) scenario {
		return scenario{name: name, method: "POST", path: "/store/namespaces", body: body, status: 200, want: want}
	}
	k.play([]scenario{
		put("put", `{"namespace":["users","u1"],"key":"k1","value":{"a":1,"text":"hello"},"index":false,"ttl":5}`, 204, ""),
		put("put another", `{"namespace":["users","u2"],"key":"k2","value":{"a":2,"deep":{"b":[1]}}}`, 204, ""),
		put("a deeper one", `{"namespace":["users","u2","x"],"key":"k3","value":{}}`, 204, ""),
		{name: "get", method: "GET", path: "/api/langgraph/store/items?namespace=users.u1&key=k1", status: 200, want: `{"value":{"a":1,"text":"hello"},"key":"k1","namespace":["users","u1"],"created_at":"*","updated_at":"*"}`},
		put("replace", `{"namespace":["users","u1"],"key":"k1","value":{"a":3}}`, 204, ""),
		{name: "get again", method: "GET", path: "/store/items?namespace=users.u1&key=k1", status: 200, want: `{"value":{"a":3,"text":"<absent>"}}`},
		{name: "get a missing one", method: "GET", path: "/store/items?namespace=users.u1&key=k9", status: 200, want: `null`},
		{name: "get somebody else's", method: "GET", path: "/store/items?namespace=users&key=theirs", status: 200, want: `null`},
		{name: "get nothing", method: "GET", path: "/store/items", status: 422, want: `{"detail":[{"loc":["query","key"]},{"loc":["query","namespace"]}]}`},
		{name: "get a bad namespace", method: "GET", path: "/store/items?namespace=users..u1&key=k", status: 422, want: `{"detail":"Namespace labels cannot be empty or contain periods. Received: users..u1"}`},
		put("put a text", `{"namespace":["texts"],"key":"t1","value":{"text":"Hello deer"}}`, 204, ""),
		search("by a query", `{"query":"my DEER"}`, `{"items":[{"key":"t1","value":{"text":"Hello deer"},"score":0.3333333333333333}]}`),
		search("by a query without a match", `{"query":"moose"}`, `{"items":[]}`),
		{name: "a long query", method: "POST", path: "/store/items/search", body: `{"query":"` + strings.Repeat("q", maxQuery+1) + `"}`, status: 422, want: `{"detail":[{"loc":["body","query"]}]}`},
		{name: "no query", method: "POST", path: "/store/items/search", body: `{"query":7}`, status: 422, want: `{"detail":[{"loc":["body","query"]}]}`},
		{name: "remove the text", method: "DELETE", path: "/store/items", body: `{"namespace":["texts"],"key":"t1"}`, status: 204},
		search("search", `{"namespace_prefix":["users"]}`, `{"items":[{"key":"k1"},{"key":"k3"},{"key":"k2"}]}`),
		search("search all", "", `{"items":[{},{},{}]}`),
		search("a page", `{"namespace_prefix":["users"],"limit":1,"offset":1,"query":" "}`, `{"items":[{"key":"k3"}]}`),
		search("by a value", `{"filter":{"a":3}}`, `{"items":[{"key":"k1"}]}`),
		search("by an operator", `{"filter":{"a":{"$eq":2}}}`, `{"items":[{"key":"k2"}]}`),
		search("by an object", `{"filter":{"deep":{"b":[1]}}}`, `{"items":[{"key":"k2"}]}`),
		search("nothing", `{"namespace_prefix":["nope"]}`, `{"items":[]}`),
		{name: "another operator", method: "POST", path: "/store/items/search", body: `{"filter":{"a":{"$gt":2}}}`, status: 422, want: `{"detail":[{"loc":["body","filter","a","$gt"]}]}`},
		{name: "a bad prefix", method: "POST", path: "/store/items/search", body: `{"namespace_prefix":["a.b"]}`, status: 422, want: `{"detail":"*"}`},
		{name: "a bad page", method: "POST", path: "/store/items/search", body: `{"limit":0}`, status: 422},
		spaces("namespaces", `{"prefix":["users"]}`, `{"namespaces":[["users","u1"],["users","u2"],["users","u2","x"]]}`),
		spaces("cut", `{"max_depth":1}`, `{"namespaces":[["users"]]}`),
		spaces("by suffix", `{"suffix":["x"]}`, `{"namespaces":[["users","u2","x"]]}`),
		spaces("none", `{"prefix":["nope"]}`, `{"namespaces":[]}`),
		{name: "a bad suffix", method: "POST", path: "/store/namespaces", body: `{"suffix":[""]}`, status: 422},
		{name: "delete", method: "DELETE", path: "/store/items", body: `{"namespace":["users","u1"],"key":"k1"}`, status: 204},
		{name: "delete again", method: "DELETE", path: "/store/items", body: `{"namespace":["users","u1"],"key":"k1"}`, status: 204},
		{name: "gone", method: "GET", path: "/store/items?namespace=users.u1&key=k1", status: 200, want: `null`},
		{name: "delete nothing", method: "DELETE", path: "/store/items", body: `{}`, status: 422},
		put("a dot", `{"namespace":["bad.label"],"key":"k","value":{}}`, 422, `{"detail":"Namespace labels cannot be empty or contain periods. Received: bad.label"}`),
		put("no namespace", `{"namespace":[],"key":"k","value":{}}`, 422, `{"detail":[{"type":"missing","loc":["body","namespace"]}]}`),
		put("a control character", `{"namespace":["a\u0001"],"key":"k","value":{}}`, 422, `{"detail":"*"}`),
		put("a long label", `{"namespace":["`+strings.Repeat("x", maxLabel+1)+`"],"key":"k","value":{}}`, 422, `{"detail":"*"}`),
		put("a deep one", `{"namespace":["`+strings.Repeat(`a","`, maxLabels)+`a"],"key":"k","value":{}}`, 422, `{"detail":"*"}`),
		put("no key", `{"namespace":["a"],"value":{}}`, 422, `{"detail":[{"loc":["body","key"]}]}`),
		put("a long key", `{"namespace":["a"],"key":"`+strings.Repeat("x", maxItemKey+1)+`","value":{}}`, 422, `{"detail":[{"loc":["body","key"]}]}`),
		put("no value", `{"namespace":["a"],"key":"k"}`, 422, `{"detail":[{"type":"missing","loc":["body","value"]}]}`),
		put("no object", `{"namespace":["a"],"key":"k","value":[1]}`, 422, `{"detail":[{"type":"dict_type","loc":["body","value"]}]}`),
		put("no time to live", `{"namespace":["a"],"key":"k","value":{},"ttl":null}`, 204, ""),
		put("a time to live of nothing", `{"namespace":["a"],"key":"k","value":{},"ttl":0}`, 422, `{"detail":[{"type":"greater_than","loc":["body","ttl"]}]}`),
		put("a negative one", `{"namespace":["a"],"key":"k","value":{},"ttl":-1}`, 422, `{"detail":[{"type":"greater_than"}]}`),
		put("none at all", `{"namespace":["a"],"key":"k","value":{},"ttl":"NaN"}`, 422, `{"detail":[{"type":"greater_than"}]}`),
		put("an endless one", `{"namespace":["a"],"key":"k","value":{},"ttl":1e9}`, 422, `{"detail":[{"type":"less_than_equal"}]}`),
		put("a word", `{"namespace":["a"],"key":"k","value":{},"ttl":"long"}`, 422, `{"detail":[{"type":"float_parsing"}]}`),
		{name: "a bad refresh", method: "GET", path: "/store/items?namespace=a&key=k&refresh_ttl=maybe", status: 422, want: `{"detail":[{"loc":["query","refresh_ttl"]}]}`},
		put("a large value", `{"namespace":["a"],"key":"k","value":{"x":"`+strings.Repeat("x", maxValue)+`"}}`, 422, `{"detail":[{"type":"too_long"}]}`),
	})
}

// TestItemTTL: an item is gone when its minutes are over, and a read prolongs them unless it says otherwise.
func TestItemTTL(t *testing.T) {
	var passed atomic.Int64
	k := newServer(t, func(c *Config) {
		c.Now = func() time.Time { return time.UnixMicro(1e15).Add(time.Duration(passed.Load())) }
	})
	put := func(ttl string) {
		t.Helper()
		k.play([]scenario{{name: "put " + ttl, method: "PUT", path: "/store/items", body: `{"namespace":["a"],"key":"k","value":{"t":"x"},"ttl":` + ttl + `}`, status: 204}})
	}
	look := func(after time.Duration, path, body string, there bool) {
		t.Helper()
		passed.Add(int64(after))
		method, want := "POST", `{"items":[]}`
		if body == "" {
			method, want = "GET", "null"
		}
		if there {
			want = map[string]string{"GET": `{"key":"k"}`, "POST": `{"items":[{"key":"k"}]}`}[method]
		}
		k.play([]scenario{{name: path + body, method: method, path: path, body: body, status: 200, want: want}})
	}
	const item, search = "/store/items?namespace=a&key=k", "/store/items/search"
	put("0.5")
	look(29*time.Second, item+"&refresh_ttl=false", "", true)
	look(time.Second, item, "", false)
	put("2")
	look(100*time.Second, search, `{"refresh_ttl":false}`, true)
	look(20*time.Second, search, `{"query":"x"}`, false)
	put("2")
	look(100*time.Second, item, "", true)
	look(100*time.Second, search, `{"query":"x"}`, true)
	look(100*time.Second, search, `{}`, true)
	look(100*time.Second, search, `{"refresh_ttl":false}`, true)
	look(20*time.Second, item, "", false)
	k.play([]scenario{{name: "namespaces", method: "POST", path: "/store/namespaces", body: `{}`, status: 200, want: `{"namespaces":[]}`}})
}
