package gateway_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// described has a field of each kind, as a handler's In may have it.
type described struct {
	Thread string          `path:"thread_id"`
	Limit  int             `query:"limit" default:"10" min:"1" max:"100"`
	After  int             `query:"after"`
	Key    string          `header:"Idempotency-Key" required:""`
	Name   string          `body:"name" required:"" doc:"what it is called"`
	Order  string          `body:"order" enum:"asc,desc"`
	Tags   []string        `body:"tags" max:"3"`
	Any    json.RawMessage `body:"any" types:"object,null"`
	Rest   route.Rest      `body:"*"`
}

type entry struct {
	ID string `json:"id"`
}

// TestDescribe: the document says of each route what it reads, what it answers and who may call it, by the fields and
// their tags.
func TestDescribe(t *testing.T) {
	page := func(context.Context, *described) (out route.Page[entry], err error) { return out, nil }
	one := func(context.Context, *struct{}) (out entry, err error) { return out, nil }
	nothing := func(context.Context, *struct{}) (out route.Status, err error) { return out, nil }
	doc, err := json.Marshal(route.Describe("1.2", route.Under("things",
		route.Post("/things/{thread_id}", "Do it", page).Access(access.Regular, "things:write").Of(route.Thread).
			Rate(route.Write).Body(route.JSON),
		route.Get("/things/{thread_id}", "Look", one).Access(access.Viewer, "things:read").Of(route.User).
			Rate(route.Cheap).Body(route.None),
		route.Put("/things", "Maybe", nothing).Access(route.Anyone, "").Of(route.Nobody).Rate(route.Free).
			Body(route.Maybe),
		route.Patch("/things", "Many", nothing).Access(access.Admin, "").Of(route.Nobody).Rate(route.Costly).
			Body(route.List),
		route.Delete("/things", "Files", nothing).Access(access.Admin, "").Of(route.Nobody).Rate(route.Costly).
			Body(route.Form),
	)))
	if err != nil {
		t.Fatal(err)
	}
	const path = `{"name":"thread_id","in":"path","required":true,"schema":{"type":"string"}}`
	const thing = `{"type":"object","properties":{"id":{"type":"string"}}}`
	want := `{"openapi":"3.1.0","info":{"title":"Pudu","version":"1.2"},"paths":{
		"/things/{thread_id}":{
			"post":{"summary":"Do it","tags":["things"],"security":[{"bearer":["things:write"]}],
				"x-role":"` + string(access.Regular) + `","x-owner":"thread","x-rate":"write","parameters":[` + path + `,
					{"name":"limit","in":"query","required":false,"schema":{"type":"integer","default":10,"minimum":1,"maximum":100}},
					{"name":"after","in":"query","required":false,
						"schema":{"type":"integer","default":"<absent>","minimum":0,"maximum":2147483647}},
					{"name":"Idempotency-Key","in":"header","required":true,"schema":{"type":"string","enum":"<absent>"}}],
				"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","required":["name"],"properties":{
					"name":{"type":"string","description":"what it is called"},
					"order":{"type":"string","enum":["asc","desc"]},
					"tags":{"maxItems":3,"items":{"type":"string"}},
					"any":{"type":["object","null"]},"limit":"<absent>","*":"<absent>"}}}}},
				"responses":{"default":{"description":"see docs/api.md"},
					"200":{"content":{"application/json":{"schema":{"items":` + thing + `}}}}}},
			"get":{"summary":"Look","x-rate":"cheap","parameters":[` + path + `],"requestBody":"<absent>",
				"responses":{"200":{"description":"as asked for","content":{"application/json":{"schema":` + thing + `}}}}}},
		"/things":{
			"put":{"security":[],"x-role":"<absent>","parameters":"<absent>",
				"requestBody":{"required":false,"content":{"application/json":{"schema":{"type":"object","required":"<absent>"}}}},
				"responses":{"200":{"content":{"application/json":{"schema":true}}}}},
			"patch":{"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"array","items":{"type":"object"}}}}}},
			"delete":{"requestBody":{"required":true,"content":{"multipart/form-data":{"schema":{"type":"object"}}}}}}}}`
	if why := jsontest.Unlike(jsontest.Decode(t, []byte(want)), jsontest.Decode(t, doc)); why != "" {
		t.Errorf("%s in %s", why, doc)
	}
}
