package store_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/items"

	storeroutes "github.com/pudu-ai/pudu/internal/gateway/store"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

func TestItems(t *testing.T) {
	k := gateways.New(t, nil)
	if err := k.Items.For(access.FromRow("other")).Put(t.Context(), items.Item{Namespace: []string{"users"},
		Key: "theirs", Value: []byte(`{}`), CreatedAt: time.Now(), UpdatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	put := func(name, body string, status int, want string) gateways.Scenario {
		return gateways.Scenario{Name: name, Method: "PUT", Path: "/store/items", Body: body, Status: status,
			Want: want}
	}
	search := func(name, body, want string) gateways.Scenario {
		return gateways.Scenario{Name: name, Method: "POST", Path: "/store/items/search", Body: body, Status: 200,
			Want: want}
	}
	spaces := func(name, body, want string) gateways.Scenario {
		return gateways.Scenario{Name: name, Method: "POST", Path: "/store/namespaces", Body: body, Status: 200,
			Want: want}
	}
	k.Play([]gateways.Scenario{
		put("put", `{"namespace":["users","u1"],"key":"k1","value":{"a":1,"text":"hello"},"index":false,"ttl":5}`, 204,
			""),
		put("put another", `{"namespace":["users","u2"],"key":"k2","value":{"a":2,"deep":{"b":[1]}}}`, 204, ""),
		put("a deeper one", `{"namespace":["users","u2","x"],"key":"k3","value":{}}`, 204, ""),
		{
			Name: "get", Method: "GET", Path: "/api/langgraph/store/items?namespace=users.u1&key=k1", Status: 200,
			Want: `{"value":{"a":1,"text":"hello"},"key":"k1","namespace":["users","u1"],"created_at":"*",
				"updated_at":"*"}`,
		},
		put("replace", `{"namespace":["users","u1"],"key":"k1","value":{"a":3}}`, 204, ""),
		{
			Name: "get again", Method: "GET", Path: "/store/items?namespace=users.u1&key=k1", Status: 200,
			Want: `{"value":{"a":3,"text":"<absent>"}}`,
		},
		{
			Name: "get a missing one", Method: "GET", Path: "/store/items?namespace=users.u1&key=k9", Status: 200,
			Want: `null`,
		},
		{
			Name: "get somebody else's", Method: "GET", Path: "/store/items?namespace=users&key=theirs", Status: 200,
			Want: `null`,
		},
		{
			Name: "get nothing", Method: "GET", Path: "/store/items", Status: 422,
			Want: `{"detail":[{"loc":["query","key"]},{"loc":["query","namespace"]}]}`,
		},
		{
			Name: "get a bad namespace", Method: "GET", Path: "/store/items?namespace=users..u1&key=k", Status: 422,
			Want: `{"detail":"Namespace labels cannot be empty or contain periods. Received: users..u1"}`,
		},
		put("put a text", `{"namespace":["texts"],"key":"t1","value":{"text":"Hello deer"}}`, 204, ""),
		search("by a query", `{"query":"my DEER"}`,
			`{"items":[{"key":"t1","value":{"text":"Hello deer"},"score":0.3333333333333333}]}`),
		search("by a query without a match", `{"query":"moose"}`, `{"items":[]}`),
		{
			Name: "a long query", Method: "POST", Path: "/store/items/search",
			Body: `{"query":"` + strings.Repeat("q", 4096+1) + `"}`, Status: 422,
			Want: `{"detail":[{"loc":["body","query"]}]}`,
		},
		{
			Name: "no query", Method: "POST", Path: "/store/items/search", Body: `{"query":7}`, Status: 422,
			Want: `{"detail":[{"loc":["body","query"]}]}`,
		},
		{
			Name: "remove the text", Method: "DELETE", Path: "/store/items",
			Body: `{"namespace":["texts"],"key":"t1"}`, Status: 204,
		},
		search("search", `{"namespace_prefix":["users"]}`, `{"items":[{"key":"k1"},{"key":"k3"},{"key":"k2"}]}`),
		search("search all", "", `{"items":[{},{},{}]}`),
		search("a page", `{"namespace_prefix":["users"],"limit":1,"offset":1,"query":" "}`, `{"items":[{"key":"k3"}]}`),
		search("by a value", `{"filter":{"a":3}}`, `{"items":[{"key":"k1"}]}`),
		search("by an operator", `{"filter":{"a":{"$eq":2}}}`, `{"items":[{"key":"k2"}]}`),
		search("by an object", `{"filter":{"deep":{"b":[1]}}}`, `{"items":[{"key":"k2"}]}`),
		search("nothing", `{"namespace_prefix":["nope"]}`, `{"items":[]}`),
		{
			Name: "another operator", Method: "POST", Path: "/store/items/search", Body: `{"filter":{"a":{"$gt":2}}}`,
			Status: 422, Want: `{"detail":[{"loc":["body","filter","a","$gt"]}]}`,
		},
		{
			Name: "a bad prefix", Method: "POST", Path: "/store/items/search", Body: `{"namespace_prefix":["a.b"]}`,
			Status: 422, Want: `{"detail":"*"}`,
		},
		{Name: "a bad page", Method: "POST", Path: "/store/items/search", Body: `{"limit":0}`, Status: 422},
		spaces("namespaces", `{"prefix":["users"]}`,
			`{"namespaces":[["users","u1"],["users","u2"],["users","u2","x"]]}`),
		spaces("cut", `{"max_depth":1}`, `{"namespaces":[["users"]]}`),
		spaces("by suffix", `{"suffix":["x"]}`, `{"namespaces":[["users","u2","x"]]}`),
		spaces("none", `{"prefix":["nope"]}`, `{"namespaces":[]}`),
		{Name: "a bad suffix", Method: "POST", Path: "/store/namespaces", Body: `{"suffix":[""]}`, Status: 422},
		{
			Name: "delete", Method: "DELETE", Path: "/store/items", Body: `{"namespace":["users","u1"],"key":"k1"}`,
			Status: 204,
		},
		{
			Name: "delete again", Method: "DELETE", Path: "/store/items",
			Body: `{"namespace":["users","u1"],"key":"k1"}`, Status: 204,
		},
		{Name: "gone", Method: "GET", Path: "/store/items?namespace=users.u1&key=k1", Status: 200, Want: `null`},
		{Name: "delete nothing", Method: "DELETE", Path: "/store/items", Body: `{}`, Status: 422},
		put("a dot", `{"namespace":["bad.label"],"key":"k","value":{}}`, 422,
			`{"detail":"Namespace labels cannot be empty or contain periods. Received: bad.label"}`),
		put("no namespace", `{"namespace":[],"key":"k","value":{}}`, 422,
			`{"detail":[{"type":"missing","loc":["body","namespace"]}]}`),
		put("a control character", `{"namespace":["a\u0001"],"key":"k","value":{}}`, 422, `{"detail":"*"}`),
		put("a long label", `{"namespace":["`+strings.Repeat("x", storeroutes.MaxLabel+1)+`"],"key":"k","value":{}}`,
			422, `{"detail":"*"}`),
		put("a deep one", `{"namespace":["`+strings.Repeat(`a","`, storeroutes.MaxLabels)+`a"],"key":"k","value":{}}`,
			422, `{"detail":"*"}`),
		put("no key", `{"namespace":["a"],"value":{}}`, 422, `{"detail":[{"loc":["body","key"]}]}`),
		put("a long key", `{"namespace":["a"],"key":"`+strings.Repeat("x", storeroutes.MaxItemKey+1)+`","value":{}}`,
			422, `{"detail":[{"loc":["body","key"]}]}`),
		put("no value", `{"namespace":["a"],"key":"k"}`, 422, `{"detail":[{"type":"missing","loc":["body","value"]}]}`),
		put("no object", `{"namespace":["a"],"key":"k","value":[1]}`, 422,
			`{"detail":[{"type":"dict_type","loc":["body","value"]}]}`),
		put("no time to live", `{"namespace":["a"],"key":"k","value":{},"ttl":null}`, 204, ""),
		put("a time to live of nothing", `{"namespace":["a"],"key":"k","value":{},"ttl":0}`, 422,
			`{"detail":[{"type":"greater_than","loc":["body","ttl"]}]}`),
		put("a negative one", `{"namespace":["a"],"key":"k","value":{},"ttl":-1}`, 422,
			`{"detail":[{"type":"greater_than"}]}`),
		put("none at all", `{"namespace":["a"],"key":"k","value":{},"ttl":"NaN"}`, 422,
			`{"detail":[{"type":"greater_than"}]}`),
		put("an endless one", `{"namespace":["a"],"key":"k","value":{},"ttl":1e9}`, 422,
			`{"detail":[{"type":"less_than_equal"}]}`),
		put("a word", `{"namespace":["a"],"key":"k","value":{},"ttl":"long"}`, 422,
			`{"detail":[{"type":"float_parsing"}]}`),
		{
			Name: "a bad refresh", Method: "GET", Path: "/store/items?namespace=a&key=k&refresh_ttl=maybe",
			Status: 422, Want: `{"detail":[{"loc":["query","refresh_ttl"]}]}`,
		},
		put("a large value", `{"namespace":["a"],"key":"k","value":{"x":"`+strings.Repeat("x", storeroutes.MaxValue)+
			`"}}`, 422, `{"detail":[{"type":"too_long"}]}`),
	})
}

// TestItemTTL: an item is gone when its minutes are over, and a read prolongs them unless it says otherwise.
func TestItemTTL(t *testing.T) {
	var passed atomic.Int64
	k := gateways.New(t, func(c *gateway.Config) {
		c.Now = func() time.Time { return time.UnixMicro(1e15).Add(time.Duration(passed.Load())) }
	})
	put := func(ttl string) {
		t.Helper()
		k.Play([]gateways.Scenario{{
			Name: "put " + ttl, Method: "PUT", Path: "/store/items",
			Body: `{"namespace":["a"],"key":"k","value":{"t":"x"},"ttl":` + ttl + `}`, Status: 204,
		}})
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
		k.Play([]gateways.Scenario{{Name: path + body, Method: method, Path: path, Body: body, Status: 200,
			Want: want}})
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
	k.Play([]gateways.Scenario{{
		Name: "namespaces", Method: "POST", Path: "/store/namespaces", Body: `{}`, Status: 200,
		Want: `{"namespaces":[]}`,
	}})
}
