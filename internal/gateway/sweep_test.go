package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

// secret stands in everything that the owner has.
const secret = "owners-secret-7d1c"

// sweep tries every route on every kind of object, as somebody who may not. The routes are those of the server, so that
// a new one is swept by itself; a new kind of object gets a line in bodies.
type sweep struct {
	*gateways.FileKit

	server *gateway.Server
	found  []string
}

// newSweep makes the owner's things: a thread with a run, a state and files, an item, an assistant.
func newSweep(t *testing.T, database sqlstore.Config) *sweep {
	k := gateways.NewFilesAt(t, database, nil)
	k.Vars["run"] = k.Run("t", secret).ID
	k.Put("t", "outputs/a.txt", secret)
	k.Put("t", "uploads/a.txt", secret)
	k.Play([]gateways.Scenario{
		{Name: "title", Method: "POST", Path: "/threads/t/state", Body: `{"values":{"title":"` + secret + `"}}`,
			Status: 200},
		{
			Name: "state", Method: "GET", Path: "/threads/t/state", Status: 200,
			Keep: map[string]string{"checkpoint_id": "checkpoint"},
		},
		{
			Name: "item", Method: "PUT", Path: "/store/items", Status: 204,
			Body: `{"namespace":["ns"],"key":"k","value":{"v":"` + secret + `"}}`,
		},
		{
			Name: "assistant", Method: "POST", Path: "/assistants", Status: 200,
			Keep: map[string]string{"assistant_id": "own"}, Body: `{"graph_id":"lead_agent","name":"` + secret +
				`","metadata":{"m":"shared"}}`,
		},
		{
			Name: "folder", Method: "POST", Path: "/folders", Status: 200,
			Keep: map[string]string{"folder_id": "folder"}, Body: `{"name":"` + secret + `","instructions":"` + secret +
				`"}`,
		},
		{
			Name: "agent", Method: "POST", Path: "/agents", Status: 201,
			Body: `{"name":"writer","description":"` + secret + `","soul":"` + secret + `"}`,
		},
		{Name: "profile", Method: "PUT", Path: "/user-profile", Status: 200, Body: `{"content":"` + secret + `"}`},
		{
			Name: "approval", Method: "POST", Path: "/approvals", Status: 200,
			Keep: map[string]string{"approval_id": "approval"}, Body: `{"tool":"bash","pattern":"` + secret +
				`","scope":"thread","thread_id":"t"}`,
		},
		{Name: "in the folder", Method: "PUT", Path: "/folders/{folder}/threads/t", Status: 200},
	})
	k.Expect("a file of the folder", k.UploadTo("/folders/{folder}/files?path=mnt/user-data/outputs",
		gateways.File("a.txt", secret)), 200, `{"skipped_files":[]}`)
	remember(k, secret)
	teach(k, secret)
	return &sweep{FileKit: k}
}

// bodies name the owner's things, a kind each, as the routes that read a body do. The first names none.
func (s *sweep) bodies() map[string]string {
	return map[string]string{
		"nothing": `{}`,
		"thread": `{"thread_id":"t","ids":["t"],"input":{"messages":"hello"},"config":{"configurable":{"thread_id":"t"}},
			"metadata":{"x":1},"values":{"title":"taken over"},"content":"taken over","expected_sha256":"` + sum(secret) + `"}`,
		"run":       `{"thread_id":"t","run_ids":["{run}"]}`,
		"runs":      `{"status":"all"}`,
		"state":     `{"checkpoint":{"checkpoint_id":"{checkpoint}"},"checkpoint_id":"{checkpoint}","input":{"messages":"x"}}`,
		"item":      `{"namespace":["ns"],"key":"k","value":{"v":"taken over"}}`,
		"items":     `{"namespace_prefix":["ns"],"prefix":["ns"]}`,
		"assistant": `{"assistant_id":"{own}","graph_id":"lead_agent","name":"taken over","version":1,"input":{"messages":"x"}}`,
		"folder":    `{"name":"taken over","instructions":"taken over"}`,
		"fact":      `{"content":"taken over","facts":[{"id":"{fact}","content":"taken over"}]}`,
		"skill":     `{"enabled":false,"content":"---\nname: taught\ndescription: taken over\n---\n","history_index":0,"thread_id":"t","path":"/mnt/user-data/outputs/a.txt"}`,
		"approval":  `{"tool":"bash","pattern":"taken over","scope":"thread","thread_id":"t"}`,
		"a search":  `{"name":"owners","query":"owners","metadata":{"m":"shared"}}`,
	}
}

// swept is what came of a request.
type swept struct {
	route        route.Route
	kind, answer string
	status       int
}

// each sends each route its requests by a server and has the answers looked at.
func (s *sweep) each(look func(swept) (fault string)) {
	s.found = nil
	for _, r := range s.server.Routes() {
		kinds := map[string]string{"the path": ""}
		switch r.Bound {
		case route.JSON, route.Maybe:
			kinds = s.bodies()
		case route.List:
			kinds = maps.Clone(s.bodies())
			for kind, body := range kinds {
				kinds[kind] = "[" + body + "]"
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			got := s.try(r, kind, kinds[kind])
			if fault := look(got); fault != "" {
				s.found = append(s.found, fmt.Sprintf("%s %s with %s: %s: %d %.300s", r.Method, r.Path, kind, fault,
					got.status, got.answer))
			}
		}
	}
}

// try sends a request. A stream that would last is left after a moment: what it says by then is looked at.
func (s *sweep) try(r route.Route, kind, body string) swept {
	path := s.Fill(filled(r))
	if strings.HasPrefix(r.Path, "/store/items") && r.Method == http.MethodGet {
		path += "?namespace=ns&key=k"
	}
	if r.Path == "/search" {
		path += "?q=owners"
	}
	ctx, cancel := context.WithTimeout(s.T.Context(), 20*time.Second)
	if r.Rate == route.Stream {
		ctx, cancel = context.WithTimeout(s.T.Context(), 300*time.Millisecond)
	}
	defer cancel()
	k := &gateways.Kit{Server: s.server, T: s.T}
	w, _ := k.Cut(s.Request(r.Method, path, s.Fill(body)).WithContext(ctx))
	return swept{r, kind, fmt.Sprint(w.Header(), w.Body), w.Code}
}

// as makes a server for another caller on the same things.
func (s *sweep) as(change func(*gateway.Config)) {
	c := s.Config
	change(&c)
	s.server = gateway.New(c)
	s.T.Cleanup(s.server.Stop)
}

// has is all that the owner can look at, by the path.
func (s *sweep) has() map[string]string {
	out := make(map[string]string)
	for _, path := range []string{
		"/threads/t", "/threads/t/state", "/threads/t/runs", "/threads/t/runs/{run}", "/store/items?namespace=ns&key=k",
		"/assistants/{own}", "/threads/t/uploads/list", "/folders/{folder}", "/folders/{folder}/files",
		"/folders/{folder}/files/mnt/user-data/outputs/a.txt", "/agents/writer", "/user-profile",
		"/approvals?revoked=true", "/memory/export", "/memory/facts/{fact}", "/skills", "/skills/custom/taught",
		"/skills/custom/taught/history", "/threads/t/artifacts/mnt/user-data/outputs/a.txt",
	} {
		w := s.Do("GET", s.Fill(path), "")
		out[path] = fmt.Sprint(w.Code, w.Body)
	}
	return out
}

// stranger looks at an answer to another user: it has nothing of the owner's, and a thread or a run by its id is
// missing.
func stranger(got swept) string {
	missing := got.route.Owner == route.Thread || got.route.Owner == route.ThreadOrNew || got.route.Owner == route.Run
	switch {
	case strings.Contains(got.answer, secret):
		return "it tells what the owner has"
	case got.status >= 500:
		return "it fails"
	case missing && got.status != http.StatusNotFound && got.status != http.StatusUnprocessableEntity:
		return "it is not missing"
	}
	return ""
}

// TestSweep: on both databases no route shows or changes anything to another user, to nobody, to a token without the
// scope, and to somebody who may only look.
func TestSweep(t *testing.T) {
	pg, err := pgtest.Start(t.Context(), pgtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pg.Stop(); err != nil {
			t.Error(err)
		}
	})
	for name, database := range map[string]sqlstore.Config{"sqlite": {Dir: t.TempDir()},
		"postgres": {URL: pg.URL("postgres")}} {
		t.Run(name, func(t *testing.T) { sweepAll(t, newSweep(t, database)) })
	}
}

func sweepAll(t *testing.T, s *sweep) {
	for _, c := range []struct {
		name   string
		change func(*gateway.Config)
		look   func(swept) string
	}{
		{"another user", func(c *gateway.Config) { c.User = access.FromRow("stranger") }, stranger},
		{"no token", func(c *gateway.Config) { c.Guard = gateway.Guard{Token: "x"} }, func(got swept) string {
			open := got.route.Role == route.Anyone
			if (got.status == http.StatusUnauthorized) == open || strings.Contains(got.answer, secret) {
				return "a token is asked for: " + fmt.Sprint(!open)
			}
			return ""
		}},
		{"another scope", func(c *gateway.Config) { c.Scopes = []string{"other:read"} }, func(got swept) string {
			open := got.route.Role == route.Anyone
			named := got.status == http.StatusForbidden &&
				strings.Contains(got.answer, "the scope "+got.route.Scope+",")
			if named == open || !open && got.route.Scope == "" {
				return "the scope is asked for: " + fmt.Sprint(!open)
			}
			return ""
		}},
		{"a viewer", func(c *gateway.Config) { c.Role = access.Viewer }, func(got swept) string {
			refused := got.status == http.StatusForbidden &&
				strings.Contains(got.answer, "the role "+string(got.route.Role)+";")
			if looks := got.route.Role == route.Anyone || got.route.Role == access.Viewer; refused == looks {
				return "a viewer may: " + fmt.Sprint(looks)
			}
			return ""
		}},
	} {
		before := s.has()
		s.as(c.change)
		s.each(c.look)
		for _, fault := range s.found {
			t.Errorf("%s: %s", c.name, fault)
		}
		if d := cmp.Diff(before, s.has()); d != "" {
			t.Errorf("%s changed what the owner has: %s", c.name, d)
		}
	}
}

// TestTheSweepFindsAWrongUser: a server that takes a stranger for the owner is found out, and by many routes.
func TestTheSweepFindsAWrongUser(t *testing.T) {
	s := newSweep(t, sqlstore.Config{Dir: t.TempDir()})
	s.as(func(*gateway.Config) {})
	s.each(stranger)
	if len(s.found) < 30 {
		t.Errorf("%d faults were found: %q", len(s.found), s.found)
	}
}

// TestColumns: what a route changes is not for who may only look, its scope says so too, and a path names what it is
// about.
func TestColumns(t *testing.T) {
	k := gateways.New(t, nil)
	for _, r := range k.Routes() {
		at := r.Method + " " + r.Path
		_, right, _ := strings.Cut(r.Scope, ":")
		if r.Role == access.Regular && right != "write" || r.Role == access.Viewer && right != "read" {
			t.Errorf("%s needs the role %s and the scope %s", at, r.Role, r.Scope)
		}
		changes := r.Method == http.MethodPut || r.Method == http.MethodPatch || r.Method == http.MethodDelete
		if changes && right != "write" {
			t.Errorf("%s is for those who only look", at)
		}
		aboutThread := slices.Contains([]route.Owner{route.Thread, route.ThreadOrNew, route.ThreadName}, r.Owner)
		if aboutThread && !strings.Contains(r.Path, "{thread_id}") || r.Owner == route.Run &&
			!strings.Contains(r.Path, "{run_id}") {
			t.Errorf("%s is about a %s that it does not name", at, r.Owner)
		}
		if strings.Contains(r.Path, "{run_id}") && r.Owner != route.Run && r.Owner != route.RunName {
			t.Errorf("%s names a run and is about %s", at, r.Owner)
		}
	}
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}
