package models_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/model/probe"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

const hush = "sk-hush-1"

// TestTheRoutesOfAdmins read what an entry is made of, and say what went wrong.
func TestTheRoutesOfAdmins(t *testing.T) {
	keeper := &gateways.Keeper{}
	k := gateways.New(t, func(c *gateway.Config) { c.Keeper = keeper })
	k.Play([]gateways.Scenario{
		{Name: "none", Method: "GET", Path: "/config/models", Status: 200, Want: `{"models":[],"default":"","why":""}`},
		{Name: "vendors", Method: "GET", Path: "/api/config/providers", Status: 200,
			Want: `{"providers":[{"name":"openai","needs_key":true}],"ollama":null}`},
		{
			Name: "add", Method: "POST", Path: "/config/models", Status: 200,
			Body: `{"provider":"openrouter","model":"a/b","api_key":" ` + hush +
				`\n","base_url":"https://h","settings":{"context_window":5},"default":true}`,
			Want: `{"name":"openrouter/a/b","settings":{"context_window":5}}`,
		},
		{Name: "the default", Method: "GET", Path: "/config/models", Status: 200, Want: `{"default":"openrouter/a/b"}`},
		{Name: "change", Method: "PUT", Path: "/config/models/openrouter/a/b", Status: 200,
			Body: `{"provider":"openrouter","model":"c"}`},
		{Name: "without a key", Method: "PUT", Path: "/config/models/openrouter/a/b", Status: 200,
			Body: `{"provider":"openrouter","model":"c","api_key":""}`},
		{Name: "nobody", Method: "PUT", Path: "/config/models/x", Status: 404,
			Body: `{"provider":"openrouter","model":"c"}`, Want: `{"detail":"Model 'x' not found"}`},
		{Name: "test", Method: "POST", Path: "/config/models/test", Status: 200, Body: `{"name":"x","first":true}`,
			Want: `{"verdict":"answers","summary":"answers","name":"*"}`},
		{Name: "choose", Method: "PUT", Path: "/config/default-model", Status: 200, Body: `{"name":"z"}`,
			Want: `{"default":"z"}`},
		{Name: "remove", Method: "DELETE", Path: "/config/models/openrouter/a/b", Status: 204},
		{Name: "again", Method: "DELETE", Path: "/config/models/openrouter/a/b", Status: 404},
	})
	given := config.Given{Name: "openrouter/a/b", Provider: "openrouter", ID: "c"}
	want := []config.Given{
		{Provider: "openrouter", ID: "a/b", BaseURL: "https://h", Key: hush,
			Settings: json.RawMessage(`{"context_window":5}`)},
		given, given, {Name: "x", Provider: "openrouter", ID: "c"},
	}
	if d := cmp.Diff(want, keeper.Given); d != "" {
		t.Error(d)
	}
	if fmt.Sprint(keeper.Kept) != "[true false true]" || len(keeper.Tried) != 1 || !keeper.Tried[0].First ||
		!keeper.Tried[0].Keep {
		t.Errorf("%v, %+v", keeper.Kept, keeper.Tried)
	}
	for status, err := range map[int]error{
		422: fmt.Errorf("%w: bad", models.ErrInvalid), 409: fmt.Errorf("%w: there", models.ErrConflict),
		429: fmt.Errorf("%w: wait", models.ErrBusy), 500: errors.New("x"),
	} {
		keeper.Err = err
		for _, path := range []string{"/config/models", "/config/models/test"} {
			if w := k.Do("POST", path, `{"provider":"a","model":"b","api_key":"`+hush+`"}`); w.Code != status ||
				strings.Contains(w.Body.String(), hush) {
				t.Errorf("%v: %d %s", err, w.Code, w.Body)
			}
		}
	}
}

// TestATestTellsAsItGoes, to clients that take lines: each result, and the verdict as the last line.
func TestATestTellsAsItGoes(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Keeper = &gateways.Keeper{} })
	r := k.Request("POST", "/config/models/test", `{"name":"x"}`)
	r.Header.Set("Accept", "application/x-ndjson, application/json")
	w := k.Send(r)
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	if w.Header().Get("Content-Type") != "application/x-ndjson" || len(lines) != 2 {
		t.Fatalf("%v %q", w.Header(), w.Body)
	}
	var first probe.Result
	var last probe.Examined
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &first),
		json.Unmarshal([]byte(lines[1]), &last)); err != nil {
		t.Fatal(err)
	}
	if first.Task != "answers" || first.Outcome != probe.Pass || last.Verdict != probe.Answers ||
		!strings.Contains(lines[1], `"summary":"answers"`) {
		t.Errorf("%q", lines)
	}
}

// TestWhatIsWrongNamesItsField, so that a form can show it there, and never has what came.
func TestWhatIsWrongNamesItsField(t *testing.T) {
	keeper := &gateways.Keeper{Err: fmt.Errorf("%w: %w", models.ErrInvalid,
		&config.GivenError{Key: "base_url", Msg: "must be an address"})}
	k := gateways.New(t, func(c *gateway.Config) { c.Keeper = keeper })
	k.Play([]gateways.Scenario{{
		Name: "a field", Method: "POST", Path: "/config/models", Status: 422,
		Body: `{"provider":"openai","model":"a","base_url":"` + hush + `"}`,
		Want: `{"detail":[{"type":"value_error","loc":["body","base_url"],"msg":"must be an address","input":null}],"message":"body.base_url: must be an address"}`,
	}})
}

// TestAKeyIsNeverRepeated, also where it is none.
func TestAKeyIsNeverRepeated(t *testing.T) {
	k := gateways.New(t, nil)
	for _, value := range []string{`["` + hush + `"]`, `{"` + hush + `":1}`, `4711`} {
		w := k.Do("POST", "/config/models", `{"provider":"a","model":"b","api_key":`+value+`}`)
		if w.Code != 422 || strings.Contains(w.Body.String(), hush) || strings.Contains(w.Body.String(), "4711") ||
			!strings.Contains(w.Body.String(), "valid string") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// TestOnlyAdminsSeeAndChangeModels: who may work may not, and neither may a token without the scope.
func TestOnlyAdminsSeeAndChangeModels(t *testing.T) {
	for _, c := range []func(*gateway.Config){
		func(c *gateway.Config) { c.Role = access.Regular }, func(c *gateway.Config) { c.Role = access.Viewer },
		func(c *gateway.Config) { c.Scopes = []string{"models:read", "models:write"} },
	} {
		keeper := &gateways.Keeper{}
		k := gateways.New(t, func(cfg *gateway.Config) { cfg.Keeper = keeper; c(cfg) })
		tried := 0
		for _, r := range k.Routes() {
			if !strings.HasPrefix(r.Path, "/config/") {
				continue
			}
			tried++
			if w := k.Do(r.Method, strings.Replace(r.Path, "{name...}", "a", 1),
				`{"name":"a","provider":"a","model":"b"}`); w.Code != 403 {
				t.Errorf("%s %s: %d %s", r.Method, r.Path, w.Code, w.Body)
			}
		}
		if tried != 7 || len(keeper.Given)+len(keeper.Tried) > 0 {
			t.Errorf("%d routes, %+v", tried, keeper)
		}
	}
}
