package gateway_test

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

var emptyList = regexp.MustCompile(`^(\[\]|\{"(data|history)":\[\].*\})\s*$`)

// named are parameters of paths that name a thing of a user's.
func named() []string {
	return []string{"{agent}", "{skill}", "{assistant_id}", "{folder_id}", "{fact_id}", "{approval_id}", "{session_id}",
		"{run_id}", "{thread_id}"}
}

// below lists all files and folders below a folder, but those of the database.
func below(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if !strings.HasPrefix(filepath.Base(name), "pudu.db") {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestHostile10Names is item 10 of the list of hostile inputs: names of agents, skills, threads and other things that
// lead elsewhere, are none, or are long. Each route that takes a name refuses it or finds nothing, of which a list is
// empty, and no file comes of it.
func TestHostile10Names(t *testing.T) {
	k := routeKit(t, nil)
	before := below(t, filepath.Dir(k.Dir))
	names := []string{"../../x", "..", ".", "a/b", `a\b`, "%2e%2e%2fx", strings.Repeat("n", 64<<10), "a\x00b", "a\nb",
		"\u202egpj", "nul.txt ", " ", "x:y"}
	for _, r := range k.Routes() {
		for _, parameter := range named() {
			if !strings.Contains(r.Path, parameter) || forgets(r) {
				continue
			}
			for _, name := range names {
				p := k.Fill(filled(route.Route{Path: strings.Replace(r.Path, parameter, url.PathEscape(name), 1)}))
				w := k.Do(r.Method, p, `{}`)
				if empty := r.Method == http.MethodGet && emptyList.MatchString(w.Body.String()); w.Code >= 500 ||
					w.Code < 400 && !empty {
					t.Errorf("%s %.80s: %d %.200s", r.Method, p, w.Code, w.Body)
				}
			}
		}
	}
	for _, name := range append(names, "") {
		for place, body := range map[string]map[string]any{
			"/agents": {"name": name}, "/threads": {"thread_id": name},
			"/skills/install": {"thread_id": name, "path": "/mnt/user-data/outputs/a.skill"},
		} {
			if w := k.Do("POST", place, jsonText(t, body)); w.Code < 400 || w.Code >= 500 {
				t.Errorf("POST %s with %.40q: %d %.200s", place, name, w.Code, w.Body)
			}
		}
	}
	if after := below(t, filepath.Dir(k.Dir)); !slices.Equal(after, before) {
		t.Errorf("there are files now: %q, there were %q", after, before)
	}
	k.Play([]gateways.Scenario{{Name: "the agent is there", Method: "GET", Path: "/agents/writer", Status: 200}})
}

// forgets tells whether a route removes what has any name: a thread's remains, and what was learned in it.
func forgets(r route.Route) bool {
	return r.Method == http.MethodDelete &&
		(r.Path == "/threads/{thread_id}" || r.Path == "/memory/threads/{thread_id}")
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
