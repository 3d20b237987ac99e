package replay_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/internal/replay"
)

const least = `pudu_replay: 1
thread: t
run: r
model: a/b
input:
  - {type: human, content: go}
turns:
  - sees: 1
    calls:
      - id: c
        tool: bash
        args: {command: ls}
        result: {status: success, text: x}
after:
  status: success
  messages: [input 1]
`

func TestDamagedFiles(t *testing.T) {
	if _, err := replay.Parse("f.yaml", []byte(least)); err != nil {
		t.Fatal(err)
	}
	edit := func(old, with string) string { return strings.Replace(least, old, with, 1) }
	for name, tt := range map[string]struct{ file, want string }{
		"empty":        {"", `f.yaml:1: this is no recording: it has no "pudu_replay: 1"`},
		"another file": {"a: 1\n", `f.yaml:1: this is no recording`},
		"a list":       {"- 1\n", `f.yaml:1: this is no recording`},
		"no YAML":      {edit("model: a/b", "model: [a"), `: damaged: did not find`},
		"a newer version": {edit(": 1", ": 2"),
			`f.yaml:1: the recording has version "2", this Pudu reads version 1`},
		"an unknown key": {edit("    calls:", "    colls:"), `f.yaml:9: field colls not found`},
		"a wrong type":   {edit("sees: 1", "sees: one"), "f.yaml:8: cannot unmarshal !!str `one` into int"},
		"an unknown status": {edit("status: success\n  m", "status: done\n  m"),
			`f.yaml:15: status "done" is no end of a run`},
		"an unknown result": {edit("status: success,", "status: fine,"),
			`f.yaml:10: turn 1: call 1: status "fine" of the result`},
		"arguments of a list": {edit("{command: ls}", "[ls]"),
			`f.yaml:10: turn 1: call 1: args must have keys and values`},
		"no input":      {edit("  - {type: human, content: go}", "  []"), `f.yaml:6: "input" is missing`},
		"a bad message": {edit("type: human", "type: man"), `f.yaml:6: decode message: type "man" is unknown`},
		"said by a tool": {edit("sees: 1", "said: [{type: ai, content: x}]"),
			`f.yaml:8: turn 1: only messages of type human are said to a run`},
		"nothing said": {edit("sees: 1", "said: [{type: human, content: x}, {type: man}]"),
			`f.yaml:8: turn 1: decode message: type "man"`},
		"cut off": {strings.Split(least, "after")[0],
			`"after" or its "status" is missing; was the file cut off?`},
		"an alias":      {edit("{command: ls}", "&a {command: *a}"), `f.yaml:12: `},
		"two documents": {least + "---\na: 1\n", `f.yaml: a second document follows`},
		"a file outside": {least + "files:\n  - {path: /etc/passwd, text: x}\n",
			`f.yaml:18: path "/etc/passwd" is not one of a file below /mnt/user-data`},
		"a file on its way": {least + "files:\n  - {path: /mnt/user-data/workspace/../../x, text: x}\n",
			`f.yaml:18: path`},
		"no base64": {least + "files:\n  - {path: /mnt/user-data/uploads/x, base64: '?'}\n",
			`f.yaml:18: /mnt/user-data/uploads/x: illegal base64`},
		"an unknown class": {edit("sees: 1", "error: {class: odd, message: x}"),
			`f.yaml:8: turn 1: class "odd" is unknown`},
		"a bad wait": {edit("sees: 1", "error: {message: x, retry_after: soon}"),
			`f.yaml:8: turn 1: retry_after`},
		"a number of YAML": {edit("command: ls", "n: 0x1F"), `f.yaml:12: "0x1F" is not a number as JSON writes it`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := replay.Parse("f.yaml", []byte(tt.file))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.yaml")
	if err := os.WriteFile(good, []byte(least), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := replay.Load(good); err != nil || r.Calls() != 1 || !r.Uses("bash") || r.Uses("ls") {
		t.Errorf("%+v, %v", r, err)
	}
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, replay.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(dir, "none.yaml"), dir, large} {
		if _, err := replay.Load(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// anyJSON draws a JSON value.
func anyJSON(depth int) *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(),
		rapid.StringOf(rapid.RuneFrom([]rune("ab \t\n\r:#-'\"&*!|>%@`{}[],?<=~\u0085\u2028\ufeff\x00\x1b😀"))),
		rapid.SampledFrom([]string{"true", "null", "~", "1", "1e3", "0x1F", "2026-01-01", "yes", "<<", "=", "---\n",
			"...\nx"}))
	leaf := rapid.OneOf(text.AsAny(), rapid.Bool().AsAny(), rapid.Just(any(nil)),
		rapid.SampledFrom([]json.Number{"0", "-0", "1.50", "1e400", "-12", "123456789012345678901234567890", "1E-2"}).
			AsAny())
	if depth == 0 {
		return leaf
	}
	below := anyJSON(depth - 1)
	return rapid.OneOf(leaf, rapid.SliceOfN(below, 0, 4).AsAny(), rapid.MapOfN(text, below, 0, 4).AsAny())
}

func TestValuesSurviveTheFile(t *testing.T) {
	for _, space := range []string{" ", "\t", "\r", "\n", "\u0085", "\u2028", "\u2029", "\u00a0", "\ufeff"} {
		survives(t, []any{space + "a\n", "a\n" + space + "b\n", "a\n" + space})
	}
	rapid.Check(t, func(t *rapid.T) { survives(t, anyJSON(3).Draw(t, "value")) })
}

func survives(t failer, value any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		t.Fatal(err)
	}
	type file struct {
		Key replay.Value `yaml:"key"`
	}
	raw, err := yaml.Marshal(file{replay.Value(b.Bytes())})
	if err != nil {
		t.Fatal(err)
	}
	var back file
	if err := yaml.Unmarshal(raw, &back); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	if d := cmp.Diff(decoded(t, b.Bytes()), decoded(t, back.Key)); d != "" {
		t.Fatalf("%s\n%s", d, raw)
	}
}

// failer is a test, by hand or by rapid.
type failer interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

func decoded(t failer, raw []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWhatYAMLCannotSay(t *testing.T) {
	for _, value := range []string{"null", `{"a":1,"a":2}`, strings.Repeat("[", 150) + strings.Repeat("]", 150)} {
		raw, err := yaml.Marshal(replay.Value(value))
		if err != nil {
			t.Fatal(err)
		}
		var back replay.Value
		if err := yaml.Unmarshal(raw, &back); err != nil || string(back) != value {
			t.Errorf("%s came back as %s, %v", raw, back, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(least))
	f.Add([]byte(least +
		"files:\n  - {path: /mnt/user-data/uploads/x, base64: AAEC}\n  - {path: /mnt/user-data/uploads/y, bytes: 9, sha256: ab}\n"))
	f.Add([]byte(strings.Replace(least, "{command: ls}", `!json '{"a":1,"a":2}'`, 1)))
	f.Add([]byte(strings.Replace(least, "[input 1]", "[{role: ai, text: |-\n  a\n }]", 1)))
	recordings, err := filepath.Glob(filepath.Join("..", "app", "testdata", "replay", "several*.yaml"))
	if err != nil || len(recordings) == 0 {
		f.Fatal("there is no recording to begin with", err)
	}
	for _, name := range recordings {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := replay.Parse("f.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Fatalf("the error does not name the file: %v", err)
			}
			return
		}
		first, err := replay.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := replay.Parse("f.yaml", first)
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		second, err := replay.Encode(back)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Fatalf("what was written reads as something else:\n%s", cmp.Diff(string(first), string(second)))
		}
	})
}
