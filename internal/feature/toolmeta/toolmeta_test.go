package toolmeta

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/message"
)

func result(key, value string) message.Message {
	m := message.New(message.Tool, "x")
	m.Kwargs = message.Fields{key: json.RawMessage(value)}
	return m
}

func TestMetaSurvivesTheMessage(t *testing.T) {
	kind := "not_found"
	for _, want := range []Meta{
		{Status: StatusSuccess, Recoverable: true, Next: NextContinue, Source: SourceContent},
		{Status: StatusError, ErrorType: &kind, Next: NextRewriteQuery, Source: SourceReturn},
	} {
		got, ok := Of(result(Key, string(want.Field())))
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Error(ok, diff)
		}
	}
	if (Meta{}).Kind() != "" || (Meta{ErrorType: &kind}).Kind() != kind {
		t.Error("the kind of error is lost")
	}
}

func TestMetaThatSaysNothing(t *testing.T) {
	ai := result(Key, `{"status":"error"}`)
	ai.Role = message.AI
	for name, m := range map[string]message.Message{
		"none": message.New(message.Tool, "x"), "null": result(Key, "null"), "a number": result(Key, "7"),
		"without status": result(Key, `{}`), "not a tool's": ai,
	} {
		if meta, ok := Of(m); ok || meta != (Meta{}) {
			t.Errorf("%s: %+v", name, meta)
		}
	}
}

func TestSubagentUsage(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want message.Usage
		ok   bool
	}{
		{`{"input_tokens":3,"output_tokens":4,"total_tokens":7}`,
			message.Usage{InputTokens: 3, OutputTokens: 4, TotalTokens: 7}, true},
		{`{"input_tokens":3,"output_tokens":4}`, message.Usage{InputTokens: 3, OutputTokens: 4, TotalTokens: 7}, true},
		{`{"input_tokens":-3,"output_tokens":4}`, message.Usage{OutputTokens: 4, TotalTokens: 4}, true},
		{`{}`, message.Usage{}, false},
		{`null`, message.Usage{}, false},
		{`[1]`, message.Usage{}, false},
	} {
		if got, ok := SubagentUsage(result(KeySubagentUsage, c.raw)); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %t", c.raw, got, ok)
		}
	}
	if SubagentModel(result(KeySubagentModel, `"m"`)) != "m" || SubagentModel(result(KeySubagentModel, `7`)) != "" {
		t.Error("the model's name is misread")
	}
	if !SubagentAttributed(result(KeySubagentAttributed, "true")) ||
		SubagentAttributed(result(KeySubagentAttributed, "false")) {
		t.Error("the mark is misread")
	}
}

func TestNewest(t *testing.T) {
	note := message.New(message.Human, "n")
	note.Kwargs = message.Fields{message.KeyHidden: []byte("true")}
	ai, res, human := message.New(message.AI, ""), message.New(message.Tool, "r"), message.New(message.Human, "h")
	for _, c := range []struct {
		name string
		msgs []message.Message
		want int
	}{
		{"nothing", nil, 0},
		{"a question", []message.Message{human}, 0},
		{"results", []message.Message{human, ai, res, res}, 2},
		{"results and notes", []message.Message{ai, res, note, note}, 1},
		{"a new question after results", []message.Message{ai, res, human}, 0},
		{"an answer", []message.Message{ai, res, ai}, 0},
		{"results of nothing", []message.Message{res}, 0},
	} {
		if _, got := Newest(c.msgs); len(got) != c.want {
			t.Errorf("%s: %d results", c.name, len(got))
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range []string{"", "null", `{"status":"error","error_type":"auth"}`, `{"input_tokens":1e99}`, `[`,
		`{"status":1}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if m, ok := Of(result(Key, raw)); ok && m.Status == "" {
			t.Fatalf("%+v", m)
		}
		if u, ok := SubagentUsage(result(KeySubagentUsage, raw)); ok &&
			(u.InputTokens < 0 || u.OutputTokens < 0 || u.TotalTokens <= 0) {
			t.Fatalf("%+v", u)
		}
		SubagentModel(result(KeySubagentModel, raw))
	})
}
