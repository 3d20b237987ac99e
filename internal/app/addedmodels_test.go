package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	addedmodels "github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/model/probe"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// hush is the key that the vendor of these tests takes.
const hush = "sk-hush-4711-0815"

// keyed is a vendor that takes one key alone, and repeats a wrong one, as some do.
type keyed struct{ vendor }

func (k *keyed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if got := r.Header.Get("Authorization"); got != "Bearer "+hush {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s","code":"invalid_api_key"}}`, got)
		return
	}
	k.vendor.ServeHTTP(w, r)
}

// node is a server without a listener, on a data folder.
type node struct {
	*engine
	http.Handler

	t   *testing.T
	log *logged
	url string // of the vendor
}

// place is where nodes work.
type nodes struct {
	file, dir, database string
	env                 map[string]string
}

func (p nodes) start(t *testing.T, v http.Handler) *node {
	t.Helper()
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("title: {enabled: false}\n"+p.file), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(config.LoadOptions{Path: path, Cwd: p.dir, Env: func(name string) (string, bool) {
		if name == "OLLAMA_HOST" {
			return "127.0.0.1:9", true // nothing listens there
		}
		value, ok := p.env[name]
		return value, ok
	}})
	if err != nil {
		t.Fatal(err)
	}
	log := &logged{}
	a := App{Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	e, err := a.assemble(t.Context(), cfg, filepath.Join(p.dir, "data"), cli.Options{Database: p.database})
	if err != nil {
		t.Fatal(err)
	}
	e.watch.log = e.log
	t.Cleanup(func() {
		if err := e.close(); err != nil {
			t.Error(err)
		}
	})
	all := &turns{before: e.refresh}
	c := e.gatewayConfig(e.session(nil), config.Server{})
	all.set(e.newGateway(c, nil))
	e.doors = edges{{gateway: all, config: c}}
	return &node{e, all, t, log, server.URL}
}

// ask sends a request and returns the answer, in which no key may be.
func (n *node) ask(method, path, body string, status int) string {
	n.t.Helper()
	body = strings.ReplaceAll(body, "URL", n.url+"/v1")
	r := httptest.NewRequest(method, "http://localhost/api"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	n.ServeHTTP(w, r)
	got := w.Body.String()
	if w.Code != status || strings.Contains(got, hush) || strings.Contains(got, "sealed:") {
		n.t.Errorf("%s %s %s: %d, want %d: %s", method, path, body, w.Code, status, got)
	}
	return got
}

func (n *node) has(what, got string, want ...string) {
	n.t.Helper()
	for _, part := range want {
		if !strings.Contains(got, part) {
			n.t.Errorf("%s: %s\nlacks %s", what, got, part)
		}
	}
}

// names are the models that runs may name, and the one that they take.
func (n *node) names() (names []string, standard string) {
	n.t.Helper()
	var list struct{ Models []struct{ Name string } }
	if err := json.Unmarshal([]byte(n.ask("GET", "/models", "", 200)), &list); err != nil {
		n.t.Fatal(err)
	}
	for _, m := range list.Models {
		names = append(names, m.Name)
	}
	return names, n.now().model.name()
}

const oneEntry = `{"provider":"openai","model":"one","base_url":"URL","api_key":"` + hush + `"}`

// TestAModelIsAddedWithoutARestart: a server without a model tells what it could have, tests a candidate, takes it in,
// and works with it; nothing that it writes, says or backs up has the key.
func TestAModelIsAddedWithoutARestart(t *testing.T) {
	t.Parallel()
	p := nodes{dir: t.TempDir()}
	n := p.start(t, &keyed{vendor{words: map[string]string{"one": "pudu from one", "two": "from two"}}})
	n.has("no model", n.ask("POST", "/runs/wait", `{"input":{"messages":"hello"}}`, 422), "no language model",
		"pudu models add")
	n.has("providers", n.ask("GET", "/config/providers", "", 200), `"name":"anthropic"`, `"needs_key":true`,
		`"key_in_environment":""`, `"ollama":null`,
		`"base_url":"https://api.openai.com/v1"`, `"needs_base_url":true`, `"gpt-5.5"`)
	wrong := strings.Replace(oneEntry, hush, "sk-wrong-0815", 1)
	verdict := n.ask("POST", "/config/models/test", strings.Replace(wrong, "{", `{"first":true,`, 1), 200)
	n.has("a wrong key", verdict, `"verdict":"no verdict"`, "HTTP 401", `"remedy":"check the key of openai"`)
	if strings.Contains(verdict, "sk-wrong") {
		t.Errorf("the key is told: %s", verdict)
	}
	n.has("a good one", n.ask("POST", "/config/models/test", strings.Replace(oneEntry, "{", `{"first":true,`, 1), 200),
		`"verdict":"answers"`, `"summary":"answers"`)
	n.has("a test adds nothing", n.ask("GET", "/config/models", "", 200), `"models":[]`, `"default":""`)

	n.has("added", n.ask("POST", "/config/models", oneEntry, 200), `"name":"openai/one"`, `"origin":"added"`,
		`"key":"added"`, `"default":true`, `"usable":true`)
	answered(t, n.engine, "a", "pudu from one")
	two := `{"name":"zwei","provider":"openai","model":"two","base_url":"URL","api_key":"` + hush +
		`","default":true,"settings":{"supports_vision":true}}`
	n.has("the second", n.ask("POST", "/config/models", two, 200), `"settings":{"supports_vision":true}`,
		`"supports_vision":true`)
	answered(t, n.engine, "b", "from two")
	if names, std := n.names(); !slices.Equal(names, []string{"zwei", "openai/one"}) || std != "openai/two" {
		t.Errorf("%q, %s", names, std)
	}
	n.has("twice", n.ask("POST", "/config/models", two, 409), "already")
	n.has("kept key", n.ask("PUT", "/config/models/zwei", `{"provider":"openai","model":"two","base_url":"URL"}`, 200),
		`"key":"added"`)
	answered(t, n.engine, "c", "from two")
	n.has("moved", n.ask("PUT", "/config/models/zwei",
		`{"provider":"openai","model":"two","base_url":"http://127.0.0.2:1/v1"}`, 409), "goes nowhere else")
	n.has("tested as it is", n.ask("POST", "/config/models/test", `{"name":"zwei","first":true}`, 200), `"name":"zwei"`)
	n.has("chosen", n.ask("PUT", "/config/default-model", `{"name":"openai/one"}`, 200), `"default":"openai/one"`,
		"it was made the default")
	n.has("nobody", n.ask("PUT", "/config/default-model", `{"name":"nobody"}`, 404), "not found")
	n.ask("DELETE", "/config/models/openai/one", "", 204)
	if names, std := n.names(); !slices.Equal(names, []string{"zwei"}) || std != "openai/two" {
		t.Errorf("after the default was removed: %q, %s", names, std)
	}
	n.ask("DELETE", "/config/models/openai/one", "", 404)
	n.ask("PUT", "/config/models/openai/one", oneEntry, 404)
	n.checkTraces(p)
}

// checkTraces looks for the key in what the server has left, and for what the audit log tells.
func (n *node) checkTraces(p nodes) {
	n.t.Helper()
	rows, err := n.audit.List(n.t.Context(), audit.Filter{Limit: 100})
	if err != nil {
		n.t.Fatal(err)
	}
	var said []string
	for _, r := range rows {
		said = append(said, fmt.Sprint(r.Verb, " ", r.Kind, " ", r.Object))
	}
	for _, want := range []string{"change model openai/one", "change model zwei", "change default model openai/one",
		"delete model openai/one", "look model zwei"} {
		if !slices.Contains(said, want) {
			n.t.Errorf("the audit log lacks %q: %q", want, said)
		}
	}
	var archive bytes.Buffer
	if _, err := (App{}).Backup(n.t.Context(), cli.Options{Config: n.now().base.Path, Data: n.dir},
		&archive); err != nil {
		n.t.Fatal(err)
	}
	for what, text := range map[string]string{"log": n.log.String(), "backup": archive.String(),
		"audit": fmt.Sprint(rows)} {
		if strings.Contains(text, hush) || strings.Contains(text, "sk-wrong") {
			n.t.Errorf("the %s has a key", what)
		}
	}
	files := 0
	err = filepath.WalkDir(p.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(hush)) {
			n.t.Errorf("%s has the key", path)
		}
		return err
	})
	if err != nil || files < 3 {
		n.t.Errorf("%d files, %v", files, err)
	}
}

// TestTheConfigurationCannotBeChanged by the routes, and its models count before those that were added.
func TestTheConfigurationCannotBeChanged(t *testing.T) {
	t.Parallel()
	v := &keyed{vendor{words: map[string]string{"one": "x"}}}
	n := nodes{dir: t.TempDir(), env: map[string]string{"ANTHROPIC_API_KEY": "sk-env-1"},
		file: "models:\n  - {name: mine, provider: compatible, model: m, base_url: 'http://127.0.0.1:9/v1', api_key: sk-file-1}\n" +
			"  - {name: claude, provider: anthropic, model: c}\n"}.start(t, v)
	list := n.ask("GET", "/config/models", "", 200)
	n.has("list", list, `"name":"mine"`, `"origin":"configuration"`, `"read_only":true`, `"key":"configuration"`,
		`"key":"environment"`, `"default":"mine"`)
	if strings.Contains(list, "sk-file") || strings.Contains(list, "sk-env") {
		t.Error(list)
	}
	n.has("the variable", n.ask("GET", "/config/providers", "", 200), `"key_in_environment":"ANTHROPIC_API_KEY"`)
	for method, path := range map[string]string{"PUT": "/config/models/mine", "DELETE": "/config/models/mine",
		"POST": "/config/models"} {
		n.has(method, n.ask(method, path, strings.Replace(oneEntry, "{", `{"name":"mine",`, 1), 409),
			"config.yaml, line 3", "change it there")
	}
	n.ask("POST", "/config/models", oneEntry, 200)
	if names, std := n.names(); !slices.Equal(names, []string{"mine", "claude", "openai/one"}) ||
		std != "compatible/m" {
		t.Errorf("%q, %s", names, std)
	}
	n.ask("PUT", "/config/default-model", `{"name":"claude"}`, 200)
	n.ask("PUT", "/config/default-model", `{"name":"openai/one"}`, 200)
	if names, _ := n.names(); !slices.Equal(names, []string{"openai/one", "mine", "claude"}) {
		t.Errorf("%q", names)
	}
	n.ask("PUT", "/config/default-model", `{"name":null}`, 200)
	if _, std := n.names(); std != "compatible/m" {
		t.Errorf("%s", std)
	}
}

// TestWhatTheEnvironmentSays is chosen before what somebody chooses.
func TestWhatTheEnvironmentSays(t *testing.T) {
	t.Parallel()
	n := nodes{dir: t.TempDir(), env: map[string]string{"PUDU_MODEL": "anthropic/x",
		"ANTHROPIC_API_KEY": "sk-env-1"}}.start(t, &keyed{})
	n.has("fixed", n.ask("GET", "/config/models", "", 200), `"default_fixed_by":"PUDU_MODEL"`, `"origin":"environment"`,
		`"name":"anthropic/x"`)
	n.has("default", n.ask("POST", "/config/models", strings.Replace(oneEntry, "{", `{"default":true,`, 1), 409),
		"PUDU_MODEL says")
	n.ask("POST", "/config/models", oneEntry, 200)
	n.has("default", n.ask("PUT", "/config/default-model", `{"name":"openai/one"}`, 409), "PUDU_MODEL says")
	n.has("its name", n.ask("POST", "/config/models", `{"provider":"anthropic","model":"x","api_key":"k"}`, 409),
		"the environment has a model")
	if names, _ := n.names(); !slices.Equal(names, []string{"anthropic/x", "openai/one"}) {
		t.Errorf("%q", names)
	}
}

// TestHostileEntries are refused, and nothing is asked.
func TestHostileEntries(t *testing.T) {
	t.Parallel()
	v := &keyed{}
	n := nodes{dir: t.TempDir(), env: map[string]string{"SECRET": "leaked", "OPENAI_API_KEY": "sk-env-1",
		"PUDU_MODEL": "openai/x"}}.start(t, v)
	for want, body := range map[string]string{
		"no model is served at this address": `{"provider":"compatible","model":"m","base_url":"http://169.254.169.254/v1"}`,
		"a cloud's own services":             `{"provider":"compatible","model":"m","base_url":"http://[fd00:ec2::254]/v1"}`,
		"a group":                            `{"provider":"compatible","model":"m","base_url":"http://0.0.0.0:1/v1"}`,
		"base_url: must be an address":       `{"provider":"compatible","model":"m","base_url":"file:///etc/passwd"}`,
		"base_url: must have no user":        `{"provider":"compatible","model":"m","base_url":"http://a:b@h/v1"}`,
		"is none of anthropic":               `{"provider":"scripted","model":"/etc/passwd"}`,
		"settings.script":                    `{"provider":"openai","model":"m","settings":{"script":"/etc/passwd"}}`,
		"visible ASCII":                      `{"provider":"openai","model":"m","api_key":"a\nb"}`,
		"name:":                              `{"name":"../x","provider":"openai","model":"m"}`,
		"no key for Anthropic":               `{"provider":"anthropic","model":"m"}`,
		`"api_key"`:                          `{"provider":"openai","model":"m","api_key":{"a":"` + hush + `"}}`,
	} {
		for _, path := range []string{"/config/models", "/config/models/test"} {
			if want == "is none of anthropic" {
				want = "is none of openai, anthropic"
			}
			n.has(path, n.ask("POST", path, body, 422), want)
		}
	}
	// The key of the environment goes to no address that somebody gives; a variable's name is text.
	n.has("no key", n.ask("POST", "/config/models/test",
		`{"provider":"openai","model":"one","base_url":"URL","first":true}`, 200),
		"HTTP 401: Incorrect API key provided: \"")
	got := n.ask("POST",
		"/config/models/test", `{"provider":"openai","model":"one","base_url":"URL","api_key":"$SECRET","first":true,"settings":{"display_name":"$SECRET"}}`, 200)
	if strings.Contains(got+n.log.String(), "leaked") || strings.Contains(got, "sk-env") {
		t.Error(got)
	}
	elsewhere, _ := buildModel(config.Model{Given: true, Provider: "compatible", ID: "m", Name: "m",
		Wire: config.WireOpenAI, BaseURL: "http://0.0.0.0:80/v1"})
	_, err := model.Collect(elsewhere.Stream(t.Context(),
		&model.Request{Messages: []message.Message{message.New(message.Human, "x")}}))
	if err == nil || !strings.Contains(err.Error(), "no model is served at this address") {
		t.Errorf("it was connected to: %v", err)
	}
}

// TestARunKeepsAModelThatIsRemoved to its end; the next one does not find it.
func TestARunKeepsAModelThatIsRemoved(t *testing.T) {
	t.Parallel()
	v := &keyed{vendor{words: map[string]string{"one": "from one"}, takes: 300 * time.Millisecond}}
	n := nodes{dir: t.TempDir()}.start(t, v)
	n.ask("POST", "/config/models", oneEntry, 200)
	var working sync.WaitGroup
	working.Go(func() { answered(t, n.engine, "a", "from one") })
	for v.count("one") == 0 {
		time.Sleep(time.Millisecond)
	}
	n.ask("DELETE", "/config/models/openai/one", "", 204)
	n.ask("POST", "/runs/wait", `{"input":{"messages":"hello"}}`, 422)
	working.Wait()
}

// TestTestsAreBounded: one more than may be is told to come again, and one whose client goes away ends.
func TestTestsAreBounded(t *testing.T) {
	t.Parallel()
	n := nodes{dir: t.TempDir()}.start(t, &keyed{vendor{words: map[string]string{"one": "pudu"}}})
	k := n.keeper()
	trial := addedmodels.Trial{Given: config.Given{Provider: "openai", ID: "one", BaseURL: n.url + "/v1", Key: hush}}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for range 2 {
		var tests []probe.Test
		for range testsAtOnce {
			test, err := k.Test(t.Context(), trial)
			if err != nil {
				t.Fatal(err)
			}
			tests = append(tests, test)
		}
		n.has("one more", n.ask("POST", "/config/models/test", oneEntry, 429), "4 models are being tested")
		for _, test := range tests {
			if x, err := test(ctx, func(probe.Result) {}); err != nil || x.Verdict != probe.NoVerdict {
				t.Errorf("%+v, %v", x, err)
			}
		}
	}
}

// TestNodesLearnOfEachOther: what one adds, the other has in its lists and takes for its next run, and what is removed
// it has no more; with another key of sealed values it says what to do.
func TestNodesLearnOfEachOther(t *testing.T) {
	t.Parallel()
	var pg pgtest.Lazy
	t.Cleanup(func() {
		if err := pg.Stop(); err != nil {
			t.Error(err)
		}
	})
	v := &keyed{vendor{words: map[string]string{"one": "from one", "two": "from two"}}}
	p := nodes{dir: t.TempDir(), database: pg.Database(t)}
	a, b := p.start(t, v), p.start(t, v)
	a.ask("POST", "/config/models", oneEntry, 200)
	answered(t, b.engine, "t1", "from one")
	a.ask("POST", "/config/models", strings.Replace(strings.ReplaceAll(oneEntry, "one", "two"), "{", `{"default":true,`,
		1), 200)
	if names, std := b.names(); !slices.Equal(names, []string{"openai/two", "openai/one"}) || std != "openai/two" {
		t.Errorf("%q, %s", names, std)
	}
	answered(t, b.engine, "t2", "from two")
	b.ask("DELETE", "/config/models/openai/two", "", 204)
	answered(t, a.engine, "t3", "from one")
	a.has("named at once", a.ask("POST", "/runs/wait",
		`{"input":{"messages":"hello"},"context":{"model_name":"openai/two"}}`, 400), "allowlist")
	p.env = map[string]string{"PUDU_SECRETS_KEY": "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="}
	other := p.start(t, v)
	other.has("another key", other.ask("GET", "/config/models", "", 200), "sealed with another key", "PUDU_SECRETS_KEY",
		`"usable":false`)
	other.has("no run", other.ask("POST", "/runs/wait", `{"input":{"messages":"hello"}}`, 422), "no language model")
}

// TestWhatWasStoredIsThereAfterAKill: of a change whose process ends before it answers all is there, or nothing.
func TestWhatWasStoredIsThereAfterAKill(t *testing.T) {
	// not beside tests whose children may hold the lock for a moment
	p := nodes{dir: t.TempDir()}
	v := &keyed{vendor{words: map[string]string{"one": "from one"}}}
	t.Run("killed", func(t *testing.T) {
		n := p.start(t, v)
		k := n.keeper()
		k.changed = func(context.Context) error { return context.Canceled } // it is killed here
		g := config.Given{Provider: "openai", ID: "one", BaseURL: n.url + "/v1", Key: hush}
		if err := k.Add(t.Context(), g, true); err == nil || n.now().model.model != nil {
			t.Errorf("%v, %v", err, n.now().model)
		}
	})
	n := p.start(t, v)
	n.has("after the start", n.ask("GET", "/config/models", "", 200), `"default":"openai/one"`, `"usable":true`)
}

// TestSettingsThatCannotBeMade are made before the next run.
func TestSettingsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	n := nodes{dir: t.TempDir()}.start(t, &keyed{vendor{words: map[string]string{"one": "from one"}}})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := n.renew(ctx, true); err == nil || !n.stale.Load() {
		t.Errorf("%v, stale %v", err, n.stale.Load())
	}
	if err := n.added.Add(t.Context(), config.Given{Provider: "openai", ID: "one", BaseURL: n.url + "/v1", Key: hush},
		false, time.Now()); err != nil {
		t.Fatal(err)
	}
	answered(t, n.engine, "a", "from one")
	if n.stale.Load() {
		t.Error("it stays stale")
	}
}
