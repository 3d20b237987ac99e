package gateway_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestSlashesTooMany: a path with empty names is served as the one without, and nobody is sent elsewhere. Below
// artifacts the slashes are the file's name.
func TestSlashesTooMany(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	for _, path := range []string{"//threads/t", "/threads//t", "///threads///t//", "//api/threads/t",
		"/api//threads/t", "/api/langgraph//threads/t/"} {
		k.Play([]gateways.Scenario{{
			Name: "served", Method: "GET", Path: path, Status: 200, Want: `{"thread_id":"t"}`,
			Headers: map[string]string{"Location": ""},
		}})
	}
	k.Play([]gateways.Scenario{
		{
			Name: "escapes", Method: "GET", Path: "//threads/a%20b", Status: 422,
			Want: `{"detail":[{"input":"a b"}]}`, Headers: map[string]string{"Location": ""},
		},
		{Name: "the start page", Method: "GET", Path: "//", Status: 200},
		{Name: "nothing there", Method: "GET", Path: "//nothing//there", Status: 404},
	})
	if got := route.Base(k.Request("POST", "//api/threads/t/runs", "")); got != "/api" {
		t.Errorf("the base is %q", got)
	}
}

// TestOpenAPIPaths: parameters are in braces by their names, and each path has those that it names.
func TestOpenAPIPaths(t *testing.T) {
	k := gateways.New(t, nil)
	api, _ := jsontest.Decode(t, k.Do("GET", "/openapi.json", "").Body.Bytes()).(map[string]any)
	paths, _ := api["paths"].(map[string]any)
	form := regexp.MustCompile(`^(/|(/[a-z_.-]+|/\{[a-z_]+\})+)$`)
	for path, methods := range paths {
		if !form.MatchString(path) {
			t.Errorf("a path is %s", path)
		}
		for method := range methods.(map[string]any) {
			list, _ := jsontest.At(methods, method+".parameters").([]any)
			list = slices.DeleteFunc(list, func(p any) bool { return jsontest.At(p, "in") != "path" })
			for _, p := range list {
				if name, _ := jsontest.At(p, "name").(string); !strings.Contains(path, "{"+name+"}") {
					t.Errorf("%s %s has no parameter %s", method, path, name)
				}
			}
			if len(list) != strings.Count(path, "{") {
				t.Errorf("%s %s has the parameters %v", method, path, list)
			}
		}
	}
	const properties = "/runs.post.requestBody.content.application/json.schema.properties."
	for member, want := range map[string]any{
		"input": []any{"object", "null"}, "command": []any{"object", "null"}, "config": []any{"object", "null"},
		"stream_mode": []any{"string", "array", "null"},
	} {
		if d := cmp.Diff(want, jsontest.At(paths, properties+member+".type")); d != "" {
			t.Errorf("the types of %s (-want +got): %s", member, d)
		}
	}
	for _, path := range []string{"/", "/models/{name}", "/threads/{thread_id}/artifacts/{path}"} {
		if paths[path] == nil {
			t.Errorf("%s is not there", path)
		}
	}
}
