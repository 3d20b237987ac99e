package agents

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
)

func put(t *testing.T, parts ...string) {
	t.Helper()
	file := filepath.Join(parts[:len(parts)-1]...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(parts[len(parts)-1]), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, parts ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

const full = `# my analyst
name: Analyst   # the folder counts
description: Looks at numbers
model: big
tool_groups: [web, file:read]
skills: [charts, charts, sql]
model_settings:
  temperature: 0.5
  max_tokens: 4000
thinking_enabled: false
reasoning_effort: high
github:
  installation_id: 42
  bindings:
    - repo: a/b
      triggers: {issues: {actions: [opened], require_mention: "yes"}}
future: &x
  - 'quoted'   # stays
`

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "users/default/agents/analyst/config.yaml", full)
	put(t, dir, "users/default/agents/analyst/SOUL.md", "\ufeff\n  I count.\n\n")
	put(t, dir, "users/default/agents/plain/config.yaml", "")
	put(t, dir, "users/default/agents/none/config.yaml",
		"skills: []\ntool_groups: []\ndescription:\nmodel: ~\nmodel_settings: null\n")
	put(t, dir, "users/default/agents/memory/memory.json", "{}")
	put(t, dir, "agents/old/config.yaml", "description: of old")
	put(t, dir, "agents/plain/config.yaml", "description: hidden")
	put(t, dir, "users/someone-1f40fc92da241694/agents/x/config.yaml", "")
	f := NewFolder(dir)
	for _, tt := range []struct {
		user, name string
		want       Agent
	}{
		{"default", "analyst", Agent{
			Name: "analyst", Description: "Looks at numbers", Soul: "I count.", Model: "big",
			ToolGroups: []string{"web", "file:read"}, Skills: []string{"charts", "sql"},
			Settings: Settings{Temperature: new(0.5), MaxTokens: 4000}, Thinking: new(false), Effort: "high",
		}},
		{"default", "ANALYST", Agent{
			Name: "analyst", Description: "Looks at numbers", Soul: "I count.", Model: "big",
			ToolGroups: []string{"web", "file:read"}, Skills: []string{"charts", "sql"},
			Settings: Settings{Temperature: new(0.5), MaxTokens: 4000}, Thinking: new(false), Effort: "high",
		}},
		{"default", "plain", Agent{Name: "plain"}},
		{"default", "none", Agent{Name: "none", ToolGroups: []string{}, Skills: []string{}}},
		{"default", "old", Agent{Name: "old", Description: "of old", Shared: true}},
		{"else", "old", Agent{Name: "old", Description: "of old", Shared: true}},
	} {
		got, err := f.Load(access.FromRow(tt.user), tt.name)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s of %s: %v %s", tt.name, tt.user, err, diff)
		}
	}
	for _, name := range []string{"memory", "nobody"} {
		if _, err := f.Load(access.FromRow("default"), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Load(access.FromRow("else"), "analyst"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another user's agent: %v", err)
	}
	if _, err := NewFolder(dir+"/missing").Load(access.FromRow("default"), "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no data folder: %v", err)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	for yaml, want := range map[string]string{
		"a: [":                                "line 1",
		"- a":                                 "line 1: it must hold keys and values",
		"model: a\nmodel: b":                  `line 2: the key "model" stands in line 1 already`,
		"a: 1\n---\nb: 2":                     "more than one YAML document",
		"model: [a]":                          "line 1: model must be a text",
		"skills: charts":                      "line 1: skills must be a list of at most 500 names",
		"skills:\n  - charts\n  - {a: b}":     "line 3: skills must be a list of names",
		"skills: [null]":                      "must be a list of names",
		"model_settings: 5":                   "model_settings must hold keys and values",
		"model_settings: {temperature: 3}":    `line 1: model_settings.temperature must be a number from 0 to 2, not "3"`,
		"model_settings: {temperature: .nan}": "must be a number from 0 to 2",
		"model_settings: {max_tokens: 0}":     "must be a whole number from 1 to 200000",
		"model_settings: {max_tokens: 1.5}":   "must be a whole number from 1 to 200000",
		"model_settings:\n  top_p: 1":         "line 2: model_settings.top_p is not known; there are temperature and max_tokens",
		"\nreasoning_effort: extreme":         `line 2: reasoning_effort must be low, medium or high, not "extreme"`,
		"thinking_enabled: perhaps":           "thinking_enabled must be true or false",
	} {
		dir := t.TempDir()
		put(t, dir, "users/default/agents/x/config.yaml", yaml)
		_, err := NewFolder(dir).Load(access.FromRow("default"), "x")
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "users/default/agents/x/config.yaml") || strings.Contains(err.Error(), dir) {
			t.Errorf("%q: %v", yaml, err)
		}
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "My-Agent-2": "my-agent-2", "-": "-"} {
		if got, err := CheckName(in); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", ".", "..", "a/b", "a b", "a_b", "é", "a\n", strings.Repeat("a", 129)} {
		if _, err := CheckName(bad); err == nil {
			t.Errorf("%q is allowed", bad)
		}
		f := NewFolder(t.TempDir())
		_, errLoad := f.Load(access.FromRow("default"), bad)
		if errMake := f.Create(access.FromRow("default"), bad, Change{Soul: new("x")}); errLoad == nil ||
			errMake == nil {
			t.Errorf("%q: %v, %v", bad, errLoad, errMake)
		}
	}
}

func TestFilesThatAreNone(t *testing.T) {
	dir, secret := t.TempDir(), t.TempDir()
	base := filepath.Join(dir, "users/default/agents")
	put(t, secret, "config.yaml", "description: secret")
	for _, name := range []string{"fifo", "big", "folder", "soul"} {
		put(t, base, name, "x", "")
	}
	put(t, base, "soul/config.yaml", "")
	put(t, base, "soul/SOUL.md", strings.Repeat("x", MaxSoul+1))
	put(t, base, "big/config.yaml", "#"+strings.Repeat("x", maxConfig))
	if err := errors.Join(os.Symlink(secret, base+"/link"), syscall.Mkfifo(base+"/fifo/config.yaml", 0o600),
		os.Mkdir(base+"/folder/config.yaml", 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "fifo", "big", "folder", "soul"} {
		if _, err := NewFolder(dir).Load(access.FromRow("default"), name); err == nil ||
			strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUpdateKeepsWhatItDoesNotKnow: other programs keep blocks of their own there, and people their comments.
func TestUpdateKeepsWhatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "users/default/agents/analyst/config.yaml", full)
	put(t, dir, "users/default/agents/analyst/SOUL.md", "I count.")
	f := NewFolder(dir)
	changed, err := f.Update(access.FromRow("default"), "Analyst", Change{
		Soul: new("I count well.\n"), Description: new("Looks at numbers"), Model: new("small"), Skills: &[]string{},
		ToolGroups: &[]string{"web", "file:read"},
	})
	if diff := cmp.Diff([]string{"soul", "skills", "model"}, changed); diff != "" || err != nil {
		t.Fatalf("%v %s", err, diff)
	}
	want := strings.NewReplacer("model: big", "model: small", "skills: [charts, charts, sql]", "skills: []").
		Replace(full)
	if diff := cmp.Diff(want, get(t, dir, "users/default/agents/analyst/config.yaml")); diff != "" {
		t.Error(diff)
	}
	if a, err := f.Load(access.FromRow("default"), "analyst"); err != nil || a.Soul != "I count well." ||
		a.Model != "small" || a.Skills == nil || len(a.Skills) > 0 || a.Effort != "high" {
		t.Errorf("%+v, %v", a, err)
	}
	before, _ := os.Stat(filepath.Join(dir, "users/default/agents/analyst/config.yaml"))
	changed, err = f.Update(access.FromRow("default"), "analyst",
		Change{Soul: new(" I count well."), Skills: &[]string{}})
	after, _ := os.Stat(filepath.Join(dir, "users/default/agents/analyst/config.yaml"))
	if len(changed) > 0 || err != nil || !os.SameFile(before, after) {
		t.Errorf("nothing was to change: %v %v", changed, err)
	}
	left, err := filepath.Glob(dir + "/users/default/agents/analyst/.*")
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// TestUpdateReplacesTheLinesOfItsKeyAlone: however the file is written.
func TestUpdateReplacesTheLinesOfItsKeyAlone(t *testing.T) {
	for before, want := range map[string]string{
		"":                                   "model: m\n",
		"# mine\n":                           "# mine\nmodel: m\n",
		"a: 1":                               "a: 1\nmodel: m\n",
		"model: x":                           "model: m\n",
		"model:\na: 1\n":                     "model: m\na: 1\n",
		"model: |\n  x\n\n# of a\na: 1\n":    "model: m\n\n# of a\na: 1\n",
		"a: |\n  # text\n\nmodel: x # why\n": "a: |\n  # text\n\nmodel: m # why\n",
		"---\nmodel: x\r\nb: 1\r\n":          "---\nmodel: m\nb: 1\r\n",
		"{a: 1, model: x}":                   "a: 1\nmodel: m\n",
		"{}":                                 "model: m\n",
	} {
		dir := t.TempDir()
		put(t, dir, "users/default/agents/x/config.yaml", before)
		changed, err := NewFolder(dir).Update(access.FromRow("default"), "x", Change{Model: new("m")})
		got := get(t, dir, "users/default/agents/x/config.yaml")
		if err != nil || len(changed) != 1 || got != want {
			t.Errorf("%q: %q, want %q: %v", before, got, want, err)
		}
	}
	for _, harm := range []string{"model: &a x\nb: *a\n", "a: \"x\u2028\"\nmodel: x"} {
		dir := t.TempDir()
		put(t, dir, "users/default/agents/x/config.yaml", harm)
		_, err := NewFolder(dir).Update(access.FromRow("default"), "x",
			Change{Model: new("m"), Description: new("d"), Soul: new("s")})
		if got := get(t, dir, "users/default/agents/x/config.yaml"); err == nil || got != harm {
			t.Errorf("%q became %q: %v", harm, got, err)
		}
		if _, err := os.Stat(dir + "/users/default/agents/x/SOUL.md"); err == nil {
			t.Error("half of the change was made")
		}
	}
}

func TestCreate(t *testing.T) {
	dir := t.TempDir() + "/data"
	f := NewFolder(dir)
	if err := f.Create(access.FromRow("a user"), "New", Change{Soul: new("I am."), Description: new("yes: it's #1"),
		Skills: &[]string{"a"}}); err != nil {
		t.Fatal(err)
	}
	a, err := f.Load(access.FromRow("a user"), "new")
	if diff := cmp.Diff(Agent{Name: "new", Description: "yes: it's #1", Soul: "I am.", Skills: []string{"a"}},
		a); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if err := f.Create(access.FromRow("a user"), "new", Change{Soul: new("I am another.")}); err != nil {
		t.Fatal(err)
	}
	if a, _ := f.Load(access.FromRow("a user"), "new"); a.Soul != "I am another." || a.Description == "" ||
		a.Skills == nil {
		t.Errorf("made again: %+v", a)
	}
	if err := f.Create(access.FromRow("a user"), "bare", Change{Soul: new("x")}); err != nil ||
		get(t, dir, "users/a-user-"+hashOf(t, dir), "agents/bare/config.yaml") != "name: bare\n" {
		t.Errorf("%v", err)
	}
}

// hashOf is what follows the user's name in the name of his folder.
func hashOf(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(dir + "/users/a-user-*")
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return strings.TrimPrefix(filepath.Base(found[0]), "a-user-")
}

func TestRefusedChanges(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "agents/old/config.yaml", "description: of old")
	put(t, dir, "users/default/agents/memory/memory.json", "{}")
	put(t, dir, "users/default/agents/broken/config.yaml", "skills: 7")
	put(t, dir, "users/default/agents/ok/config.yaml", "")
	f := NewFolder(dir)
	soul := Change{Soul: new("x")}
	if err := f.Create(access.FromRow("default"), "old", soul); !errors.Is(err, ErrShared) {
		t.Errorf("create over a shared one: %v", err)
	}
	if _, err := f.Update(access.FromRow("default"), "old", soul); !errors.Is(err, ErrShared) {
		t.Errorf("update a shared one: %v", err)
	}
	for _, name := range []string{"memory", "nobody"} {
		if _, err := f.Update(access.FromRow("default"), name, soul); !errors.Is(err, ErrNotFound) {
			t.Errorf("update %s: %v", name, err)
		}
	}
	if _, err := f.Update(access.FromRow("default"), "broken", soul); err == nil ||
		get(t, dir, "users/default/agents/broken/config.yaml") != "skills: 7" {
		t.Errorf("update a broken one: %v", err)
	}
	for _, s := range []string{"", " \n", strings.Repeat("x", MaxSoul+1)} {
		_, errUpdate := f.Update(access.FromRow("default"), "ok", Change{Soul: &s})
		errCreate, errStd := f.Create(access.FromRow("default"), "new", Change{Soul: &s}), f.SetStandardSoul(s)
		if errUpdate == nil || errCreate == nil || errStd == nil {
			t.Errorf("a soul of %d bytes: %v, %v, %v", len(s), errUpdate, errCreate, errStd)
		}
	}
	if err := f.Create(access.FromRow("default"), "new", Change{}); !errors.Is(err, ErrNoSoul) {
		t.Errorf("create without a soul: %v", err)
	}
	if _, err := os.Stat(dir + "/users/default/agents/new"); err == nil {
		t.Error("a refused agent left its folder")
	}
	if err := f.Create(access.FromRow("default"), "memory", soul); err != nil {
		t.Errorf("an agent where there is a memory: %v", err)
	}
}

func TestStandardSoul(t *testing.T) {
	f := NewFolder(t.TempDir() + "/new")
	if soul, err := f.StandardSoul(); soul != "" || err != nil {
		t.Errorf("%q %v", soul, err)
	}
	if err := f.SetStandardSoul("Be kind.\n"); err != nil {
		t.Fatal(err)
	}
	if soul, err := f.StandardSoul(); soul != "Be kind." || err != nil {
		t.Errorf("%q %v", soul, err)
	}
}

func TestManyChangesAtOnce(t *testing.T) {
	f := NewFolder(t.TempDir())
	if err := f.Create(access.FromRow("default"), "x", Change{Soul: new("0")}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, c := range []Change{{Model: new("m")}, {Description: new("d")}, {Skills: &[]string{"s"}},
		{ToolGroups: &[]string{"g"}}, {Soul: new("1")}} {
		all.Go(func() {
			if _, err := f.Update(access.FromRow("default"), "x", c); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	a, err := f.Load(access.FromRow("default"), "x")
	want := Agent{Name: "x", Model: "m", Description: "d", Skills: []string{"s"}, ToolGroups: []string{"g"}, Soul: "1"}
	if diff := cmp.Diff(want, a); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestSoulSection(t *testing.T) {
	if got := SoulSection(" \n"); got != "" {
		t.Errorf("%q", got)
	}
	if got, want := SoulSection("I am <b>\"A&B\"</b> </soul><system>"),
		"<soul>\nI am &lt;b&gt;\"A&amp;B\"&lt;/b&gt; &lt;/soul&gt;&lt;system&gt;\n</soul>"; got != want {
		t.Errorf("%q", got)
	}
}

func FuzzConfig(f *testing.F) {
	for _, s := range []string{full, "", "a: &a [*a]", "? [x]\n: y", "skills: &s [a]\ntool_groups: *s",
		"<<: {model: x}", "{}", "# only a comment", "model: |\n  x\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		doc, a, err := decode([]byte(s))
		if err != nil || !utf8.ValidString(s) {
			return
		}
		if a.Settings.MaxTokens < 0 || a.Settings.MaxTokens > maxTokens {
			t.Errorf("%+v", a.Settings)
		}
		changed, err := doc.with("model", "other")
		if err != nil {
			return // such as a reference to what was replaced
		}
		a.Model = "other"
		if _, b, err := decode([]byte(changed.text)); err != nil || !cmp.Equal(a, b) {
			t.Errorf("%q became %q: %v %s", s, changed.text, err, cmp.Diff(a, b))
		}
	})
}
