package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func vars(m map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// parsed parses a file's text with the variables.
func parsed(t testing.TB, text string, env map[string]string) (*Config, []Warning, error) {
	t.Helper()
	return LoadOptions{}.parse("config.yaml", []byte(text), EnvFrom(vars(env)))
}

func mustParse(t testing.TB, text string, env map[string]string) (*Config, []Warning) {
	t.Helper()
	cfg, warnings, err := parsed(t, text, env)
	if err != nil {
		t.Fatal(err)
	}
	return cfg, warnings
}

func lines[T fmt.Stringer](list []T) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

func TestLoadWithoutAnything(t *testing.T) {
	cfg, warnings, err := Load(LoadOptions{Cwd: t.TempDir(), Env: vars(nil)})
	if err != nil || len(warnings) != 0 {
		t.Fatalf("warnings %v, error %v", warnings, err)
	}
	want := Default()
	want.Env = cfg.Env
	if diff := cmp.Diff(want, cfg, cmp.AllowUnexported(Env{}),
		cmp.Comparer(func(a, b layer) bool { return a.source == b.source })); diff != "" {
		t.Error(diff)
	}
}

func TestLoadFindsTheFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/config.yaml", "log_level: debug")
	write(t, dir+"/option.yaml", "log_level: info")
	write(t, dir+"/pudu.yaml", "log_level: warning")
	write(t, dir+"/deer.yaml", "log_level: error")
	all := map[string]string{"PUDU_CONFIG": dir + "/pudu.yaml", "DEER_FLOW_CONFIG_PATH": dir + "/deer.yaml"}
	for _, c := range []struct {
		name string
		path string
		env  map[string]string
		want string
	}{
		{"the option wins", dir + "/option.yaml", all, "info"},
		{"an option relative to the folder", "option.yaml", all, "info"},
		{"then Pudu's variable", "", all, "warning"},
		{"then DeerFlow's variable", "", map[string]string{"DEER_FLOW_CONFIG_PATH": "deer.yaml"}, "error"},
		{"then config.yaml", "", nil, "debug"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, _, err := Load(LoadOptions{Path: c.path, Cwd: dir, Env: vars(c.env)})
			if err != nil {
				t.Fatal(err)
			}
			if cfg.LogLevel != c.want {
				t.Errorf("level %q, want %q", cfg.LogLevel, c.want)
			}
		})
	}
}

func TestLoadNamedFileMustExist(t *testing.T) {
	for name, o := range map[string]LoadOptions{
		"--config":    {Path: "none.yaml", Env: vars(nil)},
		"PUDU_CONFIG": {Env: vars(map[string]string{"PUDU_CONFIG": "none.yaml"})},
	} {
		o.Cwd = t.TempDir()
		_, _, err := Load(o)
		if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/config.yaml", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(LoadOptions{Cwd: dir, Env: vars(nil)}); err == nil ||
		!strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

func TestLoadSourcesOfVariables(t *testing.T) {
	home, dir, cwd := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, home+"/.config/pudu/credentials.env", "A=stored\nB=stored\nC=stored\nD=stored\n")
	write(t, cwd+"/.env", "A=here\nB=here\nC=here\n")
	write(t, dir+"/.env", "A=beside\nB=beside\n")
	path := write(t, dir+"/config.yaml", "")
	cfg, warnings, err := Load(LoadOptions{Path: path, Cwd: cwd,
		Env: vars(map[string]string{"A": "real", "HOME": home})})
	if err != nil || len(warnings) != 0 {
		t.Fatalf("warnings %v, error %v", warnings, err)
	}
	var got []string
	for _, name := range []string{"A", "B", "C", "D"} {
		got = append(got, cfg.Env.Get(name))
	}
	if diff := cmp.Diff([]string{"real", "beside", "here", "stored"}, got); diff != "" {
		t.Error(diff)
	}
	if src := cfg.Env.Source("B"); src != dir+"/.env" {
		t.Errorf("source %q", src)
	}
	if _, ok := cfg.Env.Lookup("E"); ok {
		t.Error("E is set")
	}
}

func TestDeerFlowFileLoadsUnchanged(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "k1", "ANTHROPIC_API_KEY": "k2"}
	cfg, warnings, err := Load(LoadOptions{Path: "testdata/deerflow.yaml", Env: vars(env)})
	if err != nil {
		t.Fatal(err)
	}
	type model struct {
		Name, Provider, Dialect, Base, Key string
		Wire                               Wire
		Usable                             bool
	}
	var models []model
	for _, m := range cfg.Models {
		models = append(models, model{m.Name, m.Provider, m.Dialect, m.BaseURL, m.Key.Reveal(), m.Wire, m.Err == nil})
	}
	if diff := cmp.Diff([]model{
		{"doubao", "deepseek", "deepseek", "https://ark.example.com/api/v3", "", WireOpenAI, false},
		{"gpt", "openai", "", "https://api.openai.com/v1", "k1", WireResponses, true},
		{"claude", "anthropic", "", "https://api.anthropic.com", "k2", WireAnthropic, true},
		{"codex", "codex", "", "https://chatgpt.com/backend-api/codex", "", WireResponses, false},
		{"local", "ollama", "ollama", "http://localhost:11434/v1", "", WireOpenAI, true},
	}, models); diff != "" {
		t.Error(diff)
	}
	if got := cfg.Models[0].Err.Error(); !strings.Contains(got,
		"deerflow.yaml:21: models[0].api_key: the variable VOLCENGINE_API_KEY is not set") {
		t.Error(got)
	}
	if got := string(cfg.Models[2].ThinkingOn); got != `{"thinking":{"budget_tokens":4096,"type":"enabled"}}` {
		t.Error(got)
	}
	if cfg.Models[0].Timeout != 600*time.Second || cfg.Models[1].ChunkTimeout != 240*time.Second ||
		*cfg.Models[1].Temperature != 0.7 {
		t.Errorf("%+v", cfg.Models[:2])
	}
	if cfg.Tools[0].Err != nil || cfg.Tools[1].Err == nil || string(cfg.Tools[0].Settings["max_results"]) != "5" {
		t.Errorf("%+v", cfg.Tools)
	}
	if diff := cmp.Diff(Thresholds{{"tokens", 32000}}, cfg.Summarization.Trigger); diff != "" {
		t.Error(diff)
	}
	if s := cfg.Sandbox; s.Provider != Bubblewrap || len(s.Mounts) != 1 || s.Mounts[0].ContainerPath != "/mnt/data" ||
		s.Environment["SECRET"] != "" {
		t.Errorf("%+v", s)
	}
	want := []string{
		"deerflow.yaml:93: sandbox.mounts[1]: left out: /home/user/shared is not below /mnt; write container_path: /mnt/shared",
		"becomes bubblewrap",
		"models[4].num_ctx (line 53), ",
		"channels (line ",
	}
	text := lines(warnings)
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("warnings lack %q:\n%s", w, text)
		}
	}
	for _, off := range []string{"scheduler (", "plugins (", "checkpointer (", "tool_search (", "logging (",
		"extensions (", "skill_evolution.enabled"} {
		if strings.Contains(text, off) {
			t.Errorf("warns of %q although it asks for nothing", off)
		}
	}
	if n := strings.Count(text, "not built yet"); n != 1 {
		t.Errorf("%d warnings of what is not built", n)
	}
	if got := string(cfg.Raw["channels"]); got != `{"slack":{"bot_token":"$SLACK_BOT_TOKEN"}}` {
		t.Errorf("raw section %s", got)
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown section", "tittle: {}", `config.yaml:1: tittle: unknown section; did you mean "title"?`},
		{"unknown section near one that is kept raw", "memroy: {}", `did you mean "memory"?`},
		{"unknown key", "title:\n  max_word: 3",
			`config.yaml:2: title.max_word: unknown key; did you mean "max_words"?`},
		{"unknown key near nothing", "title: {zzzzzzzz: 1}", "title.zzzzzzzz: unknown key\n"},
		{"number for a table", "title: 3", `config.yaml:1: title: must be a table of keys, got "3"`},
		{"table for a number", "max_recursion_limit: {a: 1}", "must be a whole number, got a table of keys"},
		{"table for a list", "models: {}", "models: must be a list, got a table of keys"},
		{"word for a number", "max_recursion_limit: many", `must be a whole number, got "many"`},
		{"fraction for a whole number", "max_recursion_limit: 1.5", "must be a whole number"},
		{"zero", "max_recursion_limit: 0", "must be 1 or more"},
		{"negative", "llm_call: {retry_base_delay_ms: -1}", "llm_call.retry_base_delay_ms: must be above 0"},
		{"not a number", "token_budget: {warn_threshold: .nan}", "must be a number"},
		{"not a number, as a word", "token_budget: {warn_threshold: NaN}", "must be a number"},
		{"infinite", "circuit_breaker: {recovery_timeout_sec: .inf}", "must be a number of seconds"},
		{"endless", "circuit_breaker: {recovery_timeout_sec: 1e300}", "below ten years"},
		{"out of range", "title: {max_words: 21}", "must be from 1 to 20"},
		{"above a half-open range", "token_budget: {warn_threshold: 1.1}", "must be above 0 and at most 1"},
		{"word that is not allowed", "log_level: inf",
			`"inf" is not allowed: one of debug, info, warning, warn, error, critical; did you mean "info"?`},
		{"wrong bool", "title: {enabled: maybe}", "must be true or false"},
		{"wrong together", "loop_detection: {hard_limit: 2}", "a hard limit must not be below its warning"},
		{"model without a provider", "models: [{name: a, model: b}]",
			`config.yaml:1: models[0]: needs the key "provider"`},
		{"model without an id", "models: [{name: a, provider: openai}]", `needs the key "model"`},
		{"scripted model without a script", "models: [{provider: scripted}]", `needs the key "script"`},
		{"model that is no table", "models: [3]", `models[0]: must be a table of keys, got "3"`},
		{"model that is nothing", "models:\n  -\n", "config.yaml:2: models[0]: is empty"},
		{"model with a broken address", "models: [{provider: openai, model: a, base_url: 'ftp://x'}]",
			"models[0].base_url: must be an address such as"},
		{"extra body that is no table", "models: [{provider: openai, model: a, extra_body: [1]}]",
			"models[0].extra_body: must be a table"},
		{"tool without a name", "tools: [{use: x}]", `tools[0]: needs the key "name"`},
		{"threshold without a value", "summarization: {keep: {type: tokens}}",
			`summarization.keep: needs the key "value"`},
		{"sandbox nobody knows", "sandbox: {use: dokcer}", `"dokcer" is not known: one of bubblewrap, host, none`},
		{"relative mount", "sandbox: {mounts: [{host_path: a, container_path: /mnt/a}]}",
			"host_path: must be an absolute path"},
		{"mount with dots", "sandbox: {mounts: [{host_path: /a, container_path: /mnt/../etc}]}",
			"container_path: must be an absolute path without"},
		{"size of nothing", "sandbox: {limits: {memory: 0}}", "sandbox.limits.memory: must be a size above 0"},
		{"size too large", "sandbox: {limits: {disk: 9999999999T}}", "must be a size above 0"},
		{"bad variable name", "sandbox: {environment: {a-b: c}}", `"a-b" is no variable name`},
		{"variable that is not set", "title:\n  prompt_template: $NOPE",
			"config.yaml:2: title.prompt_template: the variable NOPE is not set: export it"},
		{"storage folder that leads out", "tool_output: {storage_subdir: ../x}", "must be the name of one folder"},
		{"tabs", "title:\n\tenabled: true", "config.yaml: yaml: line 2"},
		{"key twice", "title: {}\nmodels: []\ntitle: {}", `config.yaml:3: key "title" stands twice, first in line 1`},
		{"two documents", "title: {}\n---\ntitle: {}", "one YAML document"},
		{"a list", "- a", "must be a table of keys such as models:, got a list"},
		{"a key that is a table", "{a: b}: c", "a key must be a word"},
		{"a merge of a word", "title: {<<: a}", "<< must be followed by a table"},
		{"raw section with no number", "channels: {a: .inf}", "is no finite number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := parsed(t, c.text, nil)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error()+"\n", c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAllProblemsAreShownAtOnce(t *testing.T) {
	_, _, err := parsed(t, "a: 1\nb: 2\n"+strings.Repeat("#\n", 3), nil)
	if n := strings.Count(err.Error(), "unknown section"); n != 2 {
		t.Errorf("%d problems: %v", n, err)
	}
	var many strings.Builder
	for i := range 50 {
		fmt.Fprintf(&many, "zz%d: 1\n", i)
	}
	_, _, err = parsed(t, many.String(), nil)
	if !strings.HasSuffix(err.Error(), "and 30 more") {
		t.Error(err)
	}
	var problem *Error
	if !errors.As(err, &problem) || problem.Line != 1 || problem.Key != "zz0" {
		t.Errorf("%+v", problem)
	}
}

func TestLenientValues(t *testing.T) {
	cfg, warnings := mustParse(t, `
x-shared: &fast {retry_max_attempts: 7, retry_base_delay_ms: 5}
title: null
log_level:
max_recursion_limit: 1e3
token_usage: {enabled: no}
read_before_write: {enabled: "off"}
llm_call: {<<: *fast, retry_base_delay_ms: 0.5}
circuit_breaker: {failure_threshold: $N, recovery_timeout_sec: "${S}"}
summarization: {trigger: {type: fraction, value: 0.8}, summary_prompt: $5 for a summary}
sandbox: {limits: {processes: 0x10, memory: 2GiB, tmp: 512m, disk: 1048576}}
`, map[string]string{"N": "9", "S": "1.5"})
	if text := lines(warnings); text != "" && (len(warnings) > 1 || !strings.Contains(text, "not built yet")) {
		t.Error(text)
	}
	want := Default()
	want.Path, want.Env = cfg.Path, cfg.Env
	want.TokenUsage.Enabled, want.ReadBeforeWrite.Enabled = false, false
	want.LLMCall.RetryMaxAttempts, want.LLMCall.RetryBaseDelay = 7, 500*time.Microsecond
	want.CircuitBreaker = CircuitBreaker{FailureThreshold: 9, RecoveryTimeout: 1500 * time.Millisecond}
	want.Summarization.Trigger = Thresholds{{"fraction", 0.8}}
	want.Summarization.Prompt = "$5 for a summary"
	want.Sandbox.Limits = Limits{Processes: 16, Memory: 2 << 30, Tmp: 512 << 20, Disk: 1 << 20}
	want.Sandbox.Line = cfg.Sandbox.Line
	if diff := cmp.Diff(want, cfg, cmp.Comparer(func(a, b Env) bool { return true })); diff != "" {
		t.Error(diff)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key of a model", "models: [{provider: ollama, model: a, temprature: 1}]",
			`config.yaml:1: models[0].temprature: unknown key, left as it is; did you mean "temperature"?`},
		{"unknown key of a tool", "tools: [{name: a, max_result: 1}]",
			"tools[0].max_result: unknown key, left as it is"},
		{"unknown key of the sandbox", "sandbox: {imagee: a}", "sandbox.imagee: unknown key"},
		{"second model of a name",
			"models:\n- {name: a, provider: ollama, model: b}\n- {name: a, provider: ollama, model: c}",
			`config.yaml:3: models[1]: left out: line 2 has a model named "a" already`},
		{"two names of one key", "models: [{provider: vllm, model: a, base_url: 'http://a', api_base: 'http://b'}]",
			`models[0].api_base: has no effect beside "base_url"`},
		{"parameter in two places", "models: [{provider: ollama, model: a, top_p: 1, extra_body: {top_p: 0.5}}]",
			"models[0].top_p: has no effect beside extra_body.top_p"},
		{"containers", "sandbox: {use: 'deerflow.community.aio_sandbox:AioSandboxProvider'}",
			"AioSandboxProvider becomes bubblewrap"},
		{"a cloud sandbox", "sandbox: {use: 'deerflow.community.e2b_sandbox:E2BSandboxProvider'}",
			"E2BSandboxProvider is not built"},
		{"a mount over Pudu's own", "sandbox: {mounts: [{host_path: /a, container_path: /mnt/user-data/x}]}",
			"/mnt/user-data belongs to Pudu"},
		{"title by a model that is not there", "title: {model_name: gone}",
			`title.model_name: no configured model is named "gone"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, warnings := mustParse(t, c.text, nil)
			if text := lines(warnings); !strings.Contains(text, c.want) {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

func TestHostileFilesEndInAnError(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("x-a: &a [x,x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c < 'k'; c++ {
		p := c - 1
		fmt.Fprintf(&bomb, "x-%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", p), 9), p)
	}
	text := "x-a: &a " + strings.Repeat("y", 500_000) + "\nx-b: [" + strings.Repeat("*a,", 20) + "*a]\n"
	for name, c := range map[string]struct{ text, want string }{
		"aliases of aliases":      {bomb.String(), "too large"},
		"aliases of a long text":  {text, "too large"},
		"an alias of itself":      {"x-a: &a [*a]", "too large"},
		"depth":                   {"x-a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "too large"},
		"endless depth":           {"x-a: " + strings.Repeat("[", 400_000), "yaml"},
		"many values":             {"x-a: [" + strings.Repeat("1,", 60_000) + "1]", "too large"},
		"a merge bomb":            {"x-a: &a {<<: *a}", "too large"},
		"bytes that are no text":  {"\xff\xfe\x00", ""},
		"a control character":     {"title: \x00", "yaml"},
		"an alias without anchor": {"title: *nope", "unknown anchor"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := parsed(t, c.text, nil) // one that were read to its end would take hours
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v", err)
			}
		})
	}
	dir := t.TempDir()
	write(t, dir+"/config.yaml", "x-a: "+strings.Repeat("y", 10<<20))
	if _, _, err := Load(LoadOptions{Cwd: dir, Env: vars(nil)}); err == nil ||
		!strings.Contains(err.Error(), "larger than 1024 KiB") {
		t.Error(err)
	}
}

func TestExtensions(t *testing.T) {
	dir := t.TempDir()
	load := func(env map[string]string) (*Config, []Warning, error) {
		return Load(LoadOptions{Cwd: dir, Env: vars(env)})
	}
	write(t, dir+"/mcp_config.json", `{"mcpServers": {}, "skills": { }}`)
	cfg, warnings, err := load(nil)
	if err != nil || len(warnings) != 0 || cfg.Extensions == nil {
		t.Errorf("empty: %s %v %v", cfg.Extensions, warnings, err)
	}
	path := write(t, dir+"/extensions_config.json", "{\"skills\": {\"a\": {}},\n\"mcpServers\": {\"b\": {}}}")
	cfg, warnings, err = load(nil)
	if err != nil || lines(warnings) != path+": not built yet, without effect: mcpServers\n" ||
		!cfg.SkillSwitches["a"] {
		t.Errorf("filled: %v %v", warnings, err)
	}
	write(t, dir+"/other.json", "{\n]")
	_, _, err = load(map[string]string{"DEER_FLOW_EXTENSIONS_CONFIG_PATH": "other.json"})
	if err == nil || !strings.Contains(err.Error(), "other.json:2: must hold a JSON object") {
		t.Errorf("broken: %v", err)
	}
	_, _, err = load(map[string]string{"DEER_FLOW_EXTENSIONS_CONFIG_PATH": "none.json"})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestModelEntry(t *testing.T) {
	cfg, warnings := mustParse(t, `
models:
  - {provider: scripted, script: turns.yaml}
  - {name: tuned, provider: vllm, base_url: "http://gpu:8000/v1/", model: m, top_p: 0.9, stop: [a], extra_body: {x: $X}, default_headers: {A: b}, reasoning_effort: low}
  - {name: proxied, provider: openai, model: gpt}
  - {name: homeless, provider: vllm, model: m}
  - {name: stranger, use: my.module:Class, model: m}
  - {name: keyless, provider: mistral, model: m}
  - {name: signed, use: "deerflow.models.patched_openai:PatchedChatOpenAI", base_url: "https://g.example/v1", model: m}
`, map[string]string{"X": "y", "OPENAI_BASE_URL": "http://proxy/v1/"})
	if len(warnings) != 0 {
		t.Error(lines(warnings))
	}
	m := cfg.Models
	if m[0].Name != "scripted/turns.yaml" || m[0].Script != "turns.yaml" || m[0].Wire != WireScripted ||
		m[0].Err != nil {
		t.Errorf("%+v", m[0])
	}
	if m[1].BaseURL != "http://gpu:8000/v1" || string(m[1].ExtraBody) != `{"stop":["a"],"top_p":0.9,"x":"y"}` ||
		m[1].Headers["A"] != "b" || m[1].Effort != "low" {
		t.Errorf("%+v", m[1])
	}
	if m[2].BaseURL != "http://proxy/v1" || m[2].Err != nil {
		t.Errorf("%+v", m[2])
	}
	if m[6].Dialect != "gemini" || m[6].Provider != "openai" {
		t.Errorf("%+v", m[6])
	}
	for i, want := range map[int]string{
		3: `models[3]: needs the key "base_url"`,
		4: `models[4]: use: "my.module:Class" is not known`,
		5: "no key for Mistral: set MISTRAL_API_KEY (get one at https://",
	} {
		if m[i].Err == nil || !strings.Contains(m[i].Err.Error(), want) {
			t.Errorf("%s: %v", m[i].Name, m[i].Err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	deer, err := os.ReadFile("testdata/deerflow.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(deer)
	for _, s := range []string{
		"", "# nothing", "title: {max_words: 1}", "models: [{provider: openai, model: $A, api_key: ${B}}]",
		"x-a: &a [*a]", "sandbox: {limits: {memory: 1G}, mounts: [{host_path: /a, container_path: /mnt/a}]}",
		"title: {<<: [{a: b}, {enabled: no}]}", "llm_call: {retry_base_delay_ms: 1e18}",
		"\ufefftitle:\r\n  enabled: yes\r\n", "? [a]\n: b",
		"models: [{use: a:b, thinking: {a: b}, when_thinking_enabled: {thinking: 3}, model: x}]", "models: [{provider: gemini, api_key: k, model: m, reasoning: {effort: low}, stop: [a], thinking_level: high, betas: [a], model_kwargs: {a: {b: 1}}, extra_body: {a: {c: 2}}, when_thinking_enabled: {extra_body: {chat_template_kwargs: {thinking: true}}, reasoning: low}}]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, warnings, err := LoadOptions{}.parse("config.yaml", data, EnvFrom(vars(map[string]string{"A": "value"})))
		_ = lines(warnings)
		if err != nil {
			if err.Error() == "" {
				t.Fatalf("error without a text: %#v", err)
			}
			return
		}
		if cfg.MaxRecursionLimit < 1 || cfg.LLMCall.RetryBaseDelay <= 0 || cfg.Sandbox.CommandTimeout <= 0 ||
			cfg.Title.MaxWords < 1 {
			t.Fatalf("a bound was lost: %+v", cfg)
		}
		for _, m := range cfg.Models {
			on, off := m.ThinkingBodies()
			if _, err := json.Marshal([]any{on, off, m.ExtraBody}); err != nil {
				t.Fatalf("a body that is no JSON: %v", err)
			}
			if m.Err == nil && (m.Wire == "" || m.ID == "" || m.Name == "" || m.ChunkTimeout <= 0) {
				t.Fatalf("a usable model is not complete: %+v", m)
			}
		}
		for _, m := range cfg.Sandbox.Mounts {
			if !filepath.IsAbs(m.HostPath) || !strings.HasPrefix(m.ContainerPath, "/mnt/") ||
				strings.Contains(m.ContainerPath, "..") && filepath.Clean(m.ContainerPath) != m.ContainerPath {
				t.Fatalf("mount %+v", m)
			}
		}
	})
}
