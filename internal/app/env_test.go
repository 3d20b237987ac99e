package app

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/outgoing"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/tool"
)

// TestEnvIsBoundToTheUser: items are the user's own, addresses of this machine are refused, roles have their models.
func TestEnvIsBoundToTheUser(t *testing.T) {
	t.Parallel()
	e := engineOf(t, &vendor{}, `
title: {model_name: tiny}
models:
  - {name: main, provider: openai, model: main-1, api_key: k, VENDOR, use_responses_api: false}
  - {name: tiny, provider: openai, model: tiny-1, api_key: k, VENDOR, use_responses_api: false}
`)
	envFor := func(user string, vision bool) tool.Env {
		s := e.now()
		entry := s.model.entry
		entry.SupportsVision = vision
		c := &lead.Config{Models: lead.Models{Main: lead.Candidate{Model: s.model.model, Entry: entry}}}
		by := runs.Request{Role: access.Regular, Scopes: []string{"runs:write"}, Via: "token ci"}
		return e.envOf(s, runs.Job{Run: store.Run{ID: "r", ThreadID: "t", UserID: user}, Request: by}, c)
	}
	ctx, ada, bob := t.Context(), envFor("ada", false), envFor("bob", true)
	if got := ada.Ref; got.Role != "user" || !slices.Equal(got.Scopes, []string{"runs:write"}) ||
		got.Via != "token ci" {
		t.Errorf("who asks is %+v", got)
	}
	at := []string{"notes"}
	if err := ada.Items().Put(ctx,
		tool.Item{Namespace: at, Key: "k", Value: json.RawMessage(`{"of":"ada"}`)}); err != nil {
		t.Fatal(err)
	}
	if i, err := ada.Items().Get(ctx, at, "k"); err != nil || string(i.Value) != `{"of":"ada"}` || i.Updated.IsZero() {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := bob.Items().Get(ctx, at, "k"); !errors.Is(err, tool.ErrNoItem) {
		t.Errorf("bob gets ada's: %v", err)
	}
	for env, want := range map[*tool.Env]int{&ada: 1, &bob: 0} {
		if found, err := env.Items().Search(ctx, at, "ada", 0); err != nil || len(found) != want {
			t.Errorf("%s finds %+v, %v", env.Ref.User, found, err)
		}
	}
	if err := bob.Items().Delete(ctx, at, "k"); err != nil {
		t.Fatal(err)
	}
	if _, err := ada.Items().Get(ctx, at, "k"); err != nil {
		t.Errorf("bob has deleted ada's: %v", err)
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if res, err := ada.HTTP().Get(server.URL); !errors.Is(err, outgoing.ErrRefused) {
		t.Errorf("%v, %v", res, err)
	}
	for role, env := range map[string]tool.Env{tool.MainModel: ada, tool.CheapModel: ada, tool.VisionModel: bob} {
		if m, err := env.Model(role); err != nil || m == nil {
			t.Errorf("%s: %v", role, err)
		}
	}
	if _, err := ada.Model(tool.VisionModel); !errors.Is(err, config.ErrNoModel) {
		t.Errorf("%v", err)
	}
	if _, err := ada.Model("queen"); err == nil {
		t.Error("there is a model for queens")
	}
}
