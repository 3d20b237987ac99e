package anthropic

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

type fields = map[string]json.RawMessage

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// settingsOf are the fields of a body beside the conversation.
func settingsOf(t *testing.T, cfg Config, s model.Settings) string {
	t.Helper()
	var all fields
	if err := json.Unmarshal([]byte(body(t, cfg, &model.Request{Settings: s})), &all); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(all, func(k string, _ json.RawMessage) bool {
		return k == "model" || k == "messages" || k == "stream"
	})
	return string(rawjson.FromMembers(all))
}

func TestThinking(t *testing.T) {
	on, off, hot := true, false, 0.7
	budget := func(n string) fields { return fields{"thinking": raw(`{"type":"enabled","budget_tokens":` + n + `}`)} }
	tests := []struct {
		name     string
		cfg      Config
		settings model.Settings
		want     string
	}{
		{"default", Config{}, model.Settings{Temperature: &hot}, `{"max_tokens":8192,"temperature":0.7}`},
		{"on", Config{}, model.Settings{Thinking: &on, Temperature: &hot},
			`{"max_tokens":8192,"thinking":{"budget_tokens":4096,"type":"enabled"}}`},
		{"budget above half", Config{ThinkingBudget: 9000}, model.Settings{Thinking: &on, MaxTokens: 10000},
			`{"max_tokens":10000,"thinking":{"budget_tokens":5000,"type":"enabled"}}`},
		{"small bound is raised", Config{}, model.Settings{Thinking: &on, MaxTokens: 100},
			`{"max_tokens":2048,"thinking":{"budget_tokens":1024,"type":"enabled"}}`},
		{"automatic budget", Config{AutoThinkingBudget: true}, model.Settings{Thinking: &on, MaxTokens: 10000},
			`{"max_tokens":10000,"thinking":{"budget_tokens":8000,"type":"enabled"}}`},
		{
			"adaptive with effort", Config{ThinkingBudget: wire.Adaptive, Settings: model.Settings{Thinking: &on}},
			model.Settings{Effort: "high"},
			`{"max_tokens":8192,"output_config":{"effort":"high"},"thinking":{"type":"adaptive"}}`,
		},
		{"off, least effort", Config{Settings: model.Settings{Thinking: &on}}, model.Settings{Thinking: &off,
			Effort: "minimal"}, `{"max_tokens":8192,"output_config":{"effort":"low"},"thinking":{"type":"disabled"}}`},
		{"configured on", Config{ThinkingOn: budget("6000")}, model.Settings{Thinking: &on},
			`{"max_tokens":8192,"thinking":{"budget_tokens":6000,"type":"enabled"}}`},
		{"configured on, without a budget", Config{ThinkingOn: fields{"thinking": raw(`{"type":"enabled"}`)}},
			model.Settings{Thinking: &on}, `{"max_tokens":8192,"thinking":{"budget_tokens":4096,"type":"enabled"}}`},
		{"configured budget that fills the bound", Config{ThinkingOn: budget("8192")}, model.Settings{Thinking: &on},
			`{"max_tokens":16384,"thinking":{"budget_tokens":8192,"type":"enabled"}}`},
		{"configured on, not asked", Config{ThinkingOn: budget("6000")}, model.Settings{}, `{"max_tokens":8192}`},
		{"configured off", Config{ThinkingOff: fields{"output_config": raw(`{"effort":"low"}`)}},
			model.Settings{Thinking: &off}, `{"max_tokens":8192,"output_config":{"effort":"low"}}`},
		{"off over an extra body that thinks", Config{ExtraBody: budget("2000")}, model.Settings{Thinking: &off},
			`{"max_tokens":8192,"thinking":{"type":"disabled"}}`},
		{"adaptive takes no budget", Config{ExtraBody: budget("2000"),
			ThinkingOn: fields{"thinking": raw(`{"type":"adaptive","display":"omitted"}`)}},
			model.Settings{Thinking: &on}, `{"max_tokens":8192,"thinking":{"display":"omitted","type":"adaptive"}}`},
		{"an extra body that thinks", Config{ExtraBody: budget("2000")}, model.Settings{Temperature: &hot},
			`{"max_tokens":8192,"thinking":{"budget_tokens":2000,"type":"enabled"}}`},
		{"unknown thinking is left alone", Config{ExtraBody: fields{"thinking": raw(`{"type":"between_tools","x":1}`)}},
			model.Settings{}, `{"max_tokens":8192,"thinking":{"type":"between_tools","x":1}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := settingsOf(t, tt.cfg, tt.settings); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestExtraBody(t *testing.T) {
	cfg := Config{Settings: model.Settings{Effort: "high"}, ExtraBody: fields{
		"output_config": raw(`{"format":{"type": "json_schema"}}`), "max_tokens": raw(`100`),
		"metadata": raw(`{"user_id": "u"}`),
		"messages": raw(`[]`), "stream": raw(`false`), "tools": raw(`[]`), "temperature": raw(`null`)}}
	hot := 0.7
	want := `{"max_tokens":100,"metadata":{"user_id": "u"},"output_config":{"effort":"high","format":{"type": "json_schema"}}}`
	if got := settingsOf(t, cfg, model.Settings{Temperature: &hot}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConfiguredFieldsThatAreNoJSON(t *testing.T) {
	for _, cfg := range []Config{{ExtraBody: fields{"a": raw(`{`)}}, {ThinkingOn: fields{"a": raw(``)}},
		{ThinkingOff: fields{"a": raw(`x`)}}} {
		_, err := model.Collect(New(cfg).Stream(t.Context(), &model.Request{}))
		if e := model.AsError(err); e == nil || e.Class != model.ClassBadRequest {
			t.Errorf("error %v", err)
		}
	}
}

// TestThinkingOfOtherTurns: which thinking of the history goes along, and whether a turn can think at all.
func TestThinkingOfOtherTurns(t *testing.T) {
	on, off := true, false
	human, tool := message.New(message.Human, "q"), message.Message{Role: message.Tool, ToolCallID: "c"}
	thought := message.Part{Type: message.PartReasoning, Text: "t", Signature: "s"}
	calls := []message.ToolCall{{ID: "c", Name: "f"}}
	signed := message.Message{Role: message.AI, Content: []message.Part{thought}, ToolCalls: calls}
	unsigned := message.Message{Role: message.AI, Content: []message.Part{{Type: message.PartReasoning, Text: "t"}},
		ToolCalls: calls}
	plain := message.Message{Role: message.AI, ToolCalls: calls}
	other := signed
	other.ResponseMetadata = message.Fields{"model_provider": raw(`"gemini"`)}
	note, done := message.New(message.System, "n"), message.New(message.AI, "done")
	budget, adaptive := Config{}, Config{ThinkingBudget: wire.Adaptive}
	for _, tt := range []struct {
		name     string
		cfg      Config
		thinking *bool
		msgs     []message.Message
		kind     string
		blocks   int // of thinking
	}{
		{"on, signed turns", budget, &on, []message.Message{human, signed, tool, done, human, signed, tool}, "enabled",
			2},
		{"on, later steps of a turn need none", budget, &on, []message.Message{human, signed, tool, plain, tool},
			"enabled", 1},
		{"on, the turn began without", budget, &on, []message.Message{human, signed, tool, done, human, plain, tool,
			signed, tool}, "disabled", 0},
		{"on, a note is no new turn", budget, &on, []message.Message{human, plain, tool, note, signed, tool},
			"disabled", 0},
		{"on, an older turn began without", budget, &on, []message.Message{human, plain, tool, signed, human},
			"enabled", 1},
		{"on, a new question", budget, &on, []message.Message{human, plain, tool, plain, human}, "enabled", 0},
		{"on, another vendor began", budget, &on, []message.Message{human, other, tool}, "disabled", 0},
		{"on, a server without proofs", budget, &on, []message.Message{human, unsigned, tool}, "enabled", 0},
		{"on, no history", budget, &on, []message.Message{human}, "enabled", 0},
		{"adaptive, the turn began without", adaptive, &on, []message.Message{human, plain, tool, signed, tool},
			"adaptive", 1},
		{"off", budget, &off, []message.Message{human, signed, tool, human, signed, tool}, "disabled", 0},
		{"not said", budget, nil, []message.Message{human, signed, tool}, "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got struct {
				Thinking struct{ Type string }
				Messages []struct{ Content []struct{ Type string } }
			}
			req := &model.Request{Messages: tt.msgs, Settings: model.Settings{Thinking: tt.thinking}}
			if err := json.Unmarshal([]byte(body(t, tt.cfg, req)), &got); err != nil {
				t.Fatal(err)
			}
			blocks := 0
			for _, m := range got.Messages {
				for _, b := range m.Content {
					if b.Type == "thinking" {
						blocks++
					}
				}
			}
			if d := cmp.Diff([]any{tt.kind, tt.blocks}, []any{got.Thinking.Type, blocks}); d != "" {
				t.Error(d)
			}
		})
	}
}
