package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/message"
)

// vendor answers chat completions by the name of the model; one that it has no words for is overloaded.
type vendor struct {
	words map[string]string

	mu          sync.Mutex
	takes       time.Duration // of a call
	two         chan struct{} // closed by the first two calls at once: none takes longer than until then; or nil
	asked       []string
	under, most int // calls at once
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Model string `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	v.mu.Lock()
	v.asked = append(v.asked, req.Model)
	v.under++
	if v.two != nil && v.most < 2 && v.under == 2 {
		close(v.two)
	}
	v.most = max(v.most, v.under)
	two, takes := v.two, v.takes
	v.mu.Unlock()
	select {
	case <-two:
	case <-time.After(takes):
	}
	v.mu.Lock()
	v.under-- // before the client can know that it is done
	v.mu.Unlock()
	words, ok := v.words[req.Model]
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":{"message":"The server is overloaded","type":"server_error"}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w,
		"data: {\"id\":\"1\",\"model\":%q,\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}],"+
			"\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1,\"total_tokens\":11}}\n\ndata: [DONE]\n\n",
		req.Model,
		words)
}

func (v *vendor) count(name string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := 0
	for _, m := range v.asked {
		if m == name {
			n++
		}
	}
	return n
}

// peak is how many calls were made at once since the last time that it was asked.
func (v *vendor) peak() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := v.most
	v.most = 0
	return n
}

// engineOf assembles an engine whose models are those of a file; VENDOR stands for the address of their server.
func engineOf(t *testing.T, v *vendor, file string) *engine {
	t.Helper()
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(file, "VENDOR", "base_url: "+server.URL+"/v1")),
		0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(config.LoadOptions{Path: path, Env: func(string) (string, bool) { return "", false },
		Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	e, err := App{}.assemble(t.Context(), cfg, filepath.Join(dir, "data"), cli.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestARunGoesOnWithTheNextModel and says so; its title is made by the model of that role, which has a fallback of its
// own.
func TestARunGoesOnWithTheNextModel(t *testing.T) {
	v := &vendor{words: map[string]string{"spare-1": "from the spare one", "tiny-1": "A Title"}}
	e := engineOf(t, v, `
llm_call: {retry_base_delay_ms: 1, retry_cap_delay_ms: 2, burst_retry_base_delay_ms: 1}
title: {model_name: titles}
models:
  - {name: main, provider: openai, model: main-1, api_key: k, VENDOR, fallbacks: [missing, spare], use_responses_api: false}
  - {name: spare, provider: openai, model: spare-1, api_key: k, VENDOR, use_responses_api: false}
  - {name: titles, provider: openai, model: titles-1, api_key: k, VENDOR, fallbacks: [tiny], use_responses_api: false}
  - {name: tiny, provider: openai, model: tiny-1, api_key: k, VENDOR, use_responses_api: false}
`)
	var mu sync.Mutex
	var said []string
	for turn := range 2 {
		out, err := e.manager.For(access.Default()).Run(t.Context(), runs.Request{
			ThreadID: "t", Input: []message.Message{message.New(message.Human, "hello")},
		}, func(ev event.Event) {
			if c, ok := ev.Data.(event.Custom); ok && strings.Contains(string(c.Value), `"llm_fallback"`) {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, string(c.Value))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		msgs := agent.Messages.Get(out.State)
		answer := &msgs[len(msgs)-1]
		if answer.Text() != "from the spare one" || modelcall.AnsweredBy(answer, "main") != "spare" ||
			string(answer.ResponseMetadata["model_name"]) != `"spare-1"` {
			t.Errorf("turn %d: %q with %s", turn, answer.Text(), answer.ResponseMetadata)
		}
		if got := threadstate.Title.Get(out.State); got != "A Title" {
			t.Errorf("title %q", got)
		}
	}
	want := `{"type":"llm_fallback","from":"main","to":"spare","reason":"busy","message":"main is overloaded; spare answers"}`
	if !slices.Equal(said, []string{want, want}) {
		t.Errorf("said %q", said)
	}
	if v.count("main-1") != 3 || v.count("titles-1") == 0 {
		t.Errorf("asked: %v", v.asked)
	}
}

// TestModelsOfOneKeyTakeTurns, those of another key do not wait for them.
func TestModelsOfOneKeyTakeTurns(t *testing.T) {
	v := &vendor{words: map[string]string{"a-1": "x", "b-1": "x", "c-1": "x"}, takes: 20 * time.Millisecond}
	e := engineOf(t, v, `
models:
  - {name: a, provider: openai, model: a-1, api_key: k, VENDOR, use_responses_api: false, rate_limit: {concurrent: 1}}
  - {name: b, provider: openai, model: b-1, api_key: k, VENDOR, use_responses_api: false}
  - {name: c, provider: openai, model: c-1, api_key: other, VENDOR, use_responses_api: false}
`)
	atOnce := func(names ...string) int {
		v.peak()
		var wg sync.WaitGroup
		for i, name := range slices.Repeat(names, 3) {
			wg.Go(func() {
				out, err := e.manager.For(access.Default()).Run(t.Context(), runs.Request{
					ThreadID: fmt.Sprintf("%s-%d-%d", name, len(names), i), Model: name,
					Input: []message.Message{message.New(message.Human, "hello")},
				}, nil)
				if msgs := agent.Messages.Get(out.State); err != nil || len(msgs) == 0 ||
					msgs[len(msgs)-1].Text() != "x" {
					t.Errorf("run %s: %v", out.Run.ID, err)
				}
			})
		}
		wg.Wait()
		return v.peak()
	}
	if n := atOnce("a", "b"); n != 1 {
		t.Errorf("%d calls at once with one key", n)
	}
	v.mu.Lock()
	v.takes, v.two = 5*time.Second, make(chan struct{})
	v.mu.Unlock()
	if n := atOnce("a", "b", "c"); n < 2 {
		t.Error("another key waited too")
	}
}

// TestFallbacksOfTheDemonstration: it answers whatever model is asked for, and there is no other.
func TestFallbacksOfTheDemonstration(t *testing.T) {
	e := engineOf(t, &vendor{}, `
models:
  - {name: a, provider: openai, model: m, api_key: k, VENDOR}
  - {name: b, provider: openai, model: n, api_key: k, VENDOR, fallbacks: [a]}
`)
	b, _ := e.now().cfg.Model("b")
	if list := e.now().models.fallbacks(b); len(list) != 1 || list[0].Model != e.now().model.model ||
		list[0].Guard != e.now().models.std.guard {
		t.Errorf("a model is made once: %+v", list)
	}
	if side, entry := e.now().models.named("b"); side == nil || entry.Name != "b" {
		t.Errorf("%v, %+v", side, entry.Name)
	}
	e.now().models.alone = true
	side, _ := e.now().models.named("b")
	if list := e.now().models.fallbacks(b); list != nil || side != nil {
		t.Errorf("the demonstration goes on with %+v", list)
	}
}
