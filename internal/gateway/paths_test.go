package gateway

import (
	"regexp"
	"strings"
	"testing"
)

// TestSlashesTooMany: a path with empty names is served as the one without, and nobody is sent elsewhere. Below artifacts the
// slashes are the file's name.
func TestSlashesTooMany(t *testing.T) {
	k := newServer(t, nil)
	k.run("t", "hello")
	for _, path := range []string{"//threads/t", "/threads//t", "///threads///t//", "//api/threads/t", "/api//threads/t", "/api/langgraph//threads/t/"} {
		k.play([]scenario{{name: "served", method: "GET", path: path, status: 200, want: `{"thread_id":"t"}`, headers: map[string]string{"Location": ""}}})
	}
	k.play([]scenario{
		{name: "escapes", method: "GET", path: "//threads/a%20b", status: 422, want: `{"detail":[{"input":"a b"}]}`, headers: map[string]string{"Location": ""}},
		{name: "the start page", method: "GET", path: "//", status: 200},
		{name: "nothing there", method: "GET", path: "//nothing//there", status: 404},
	})
	if got := base(k.request("POST", "//api/threads/t/runs", "")); got != "/api" {
		t.Errorf("the base is %q", got)
	}
	if got, want := tidy("//threads//t/artifacts//mnt//a"), "/threads/t/artifacts//mnt//a"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestOpenAPIPaths: parameters are in braces by their names, and each path has those that it names.
func TestOpenAPIPaths(t *testing.T) {
	k := newServer(t, nil)
	api, _ := decode(t, k.do("GET", "/openapi.json", "").Body.Bytes()).(map[string]any)
	paths, _ := api["paths"].(map[string]any)
	form := regexp.MustCompile(`^(/|(/[a-z_.]+|/\{[a-z_]+\})+)$`)
	for path, methods := range paths {
		if !form.MatchString(path) {
			t.Errorf("a path is %s", path)
		}
		for method := range methods.(map[string]any) {
			list, _ := at(methods, method+".parameters").([]any)
			for _, p := range list {
				if name, _ := at(p, "name").(string); !strings.Contains(path, "{"+name+"}") {
					t.Errorf("%s %s has no parameter %s", method, path, name)
				}
			}
			if len(list) != strings.Count(path, "{") {
				t.Errorf("%s %s has the parameters %v", method, path, list)
			}
		}
	}
	for _, path := range []string{"/", "/models/{name}", "/threads/{thread_id}/artifacts/{path}"} {
		if paths[path] == nil {
			t.Errorf("%s is not there", path)
		}
	}
}
