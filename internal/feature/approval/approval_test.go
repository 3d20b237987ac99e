package approval

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/tool"
)

func TestQuestionHasTheShapeOfLangChain(t *testing.T) {
	call := tool.Call{Name: "write_file", Args: json.RawMessage(`{"path":"f0.txt","content":"content of step 0"}`)}
	const action = `[{"name":"write_file","args":{"path":"f0.txt","content":"content of step 0"},` +
		`"description":"Tool execution requires approval\n\nTool: write_file\nArgs: {\n  \"path\": \"f0.txt\",\n  \"content\": \"content of step 0\"\n}"}]`
	const review = `[{"action_name":"write_file","allowed_decisions":["approve","edit","reject"],` +
		`"actionName":"write_file","allowedDecisions":["approve","edit","reject"]}]`
	const want = `{"action_requests":` + action + `,"review_configs":` + review + `,"actionRequests":` + action +
		`,"reviewConfigs":` + review + `}`
	if diff := cmp.Diff(want, string(Ask(call, "", "").Questions[0].Value)); diff != "" {
		t.Error(diff)
	}
	again := string(Ask(call, "it pushes", "it is late").Questions[0].Value)
	if !strings.Contains(again,
		`"description":"The answer could not be used: it is late\n\nTool execution requires approval: it pushes\n\nTool:`) {
		t.Error(again)
	}
	if !IsQuestion(json.RawMessage(again)) || IsQuestion(json.RawMessage(`"may I?"`)) {
		t.Error("questions are not told apart")
	}
	call.Args = json.RawMessage(`{"content":"` + strings.Repeat("é", 10_000) + `"}`)
	if n := len(Ask(call, "", "").Questions[0].Value); n > 52_000 || !json.Valid(Ask(call, "", "").Questions[0].Value) {
		t.Errorf("a question of %d bytes", n)
	}
}

func TestRead(t *testing.T) {
	args := json.RawMessage(`{"x":1}`)
	tests := []struct {
		name, raw string
		want      Decision
		err       string
	}{
		{"approve", `{"decisions":[{"type":"approve"}]}`, Decision{Kind: Approve}, ""},
		{"list", `[{"type":"approve"}]`, Decision{Kind: Approve}, ""},
		{"alone", `{"type":"approve"}`, Decision{Kind: Approve}, ""},
		{"reject", `{"decisions":[{"type":"reject","message":"no way"}]}`, Decision{Kind: Reject, Message: "no way"},
			""},
		{"reject without words", `{"decisions":[{"type":"reject"}]}`, Decision{Kind: Reject}, ""},
		{"edit", `{"decisions":[{"type":"edit","editedAction":{"name":"a","args":{"x":1}}}]}`,
			Decision{Kind: Edit, Name: "a", Args: args}, ""},
		{"edit of Python", `{"decisions":[{"type":"edit","edited_action":{"name":"a","args":{"x":1}}}]}`,
			Decision{Kind: Edit, Name: "a", Args: args}, ""},
		{"edit of arguments", `{"type":"edit","args":{"x":1}}`, Decision{Kind: Edit, Args: args}, ""},
		{"edit without arguments", `{"type":"edit"}`, Decision{}, "needs"},
		{"edit with a list", `{"type":"edit","args":[1]}`, Decision{}, "as an object"},
		{"none", `{"decisions":[]}`, Decision{}, "got 0"},
		{"two", `[{"type":"approve"},{"type":"approve"}]`, Decision{}, "got 2"},
		{"yes", `"yes"`, Decision{}, "is an object"},
		{"true", `true`, Decision{}, "is an object"},
		{"null", `null`, Decision{}, ""},
		{"other word", `{"type":"APPROVE"}`, Decision{}, `"APPROVE" is no decision`},
		{"no JSON", `{`, Decision{}, "is an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(json.RawMessage(tt.raw))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (tt.want.Kind != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	for _, raw := range []string{`{"decisions":[{"type":"approve"},{"type":"reject"}]}`,
		`[{"type":"approve"},{"type":"reject"}]`} {
		got, ok, err := Split(json.RawMessage(raw), 2)
		if err != nil || !ok || string(got[0]) != `{"decisions":[{"type":"approve"}]}` ||
			string(got[1]) != `{"decisions":[{"type":"reject"}]}` {
			t.Errorf("%s: %s, %v, %v", raw, got, ok, err)
		}
		if _, ok, err := Split(json.RawMessage(raw), 3); !ok || err == nil ||
			!strings.Contains(err.Error(), "3 calls wait for approval and the answer has 2") {
			t.Errorf("%s for three: %v, %v", raw, ok, err)
		}
	}
	for _, raw := range []string{`"yes"`, `{"id":"yes"}`, `null`, `1`} {
		if _, ok, err := Split(json.RawMessage(raw), 2); ok || err != nil {
			t.Errorf("%s: %v, %v", raw, ok, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"decisions":[{"type":"edit","editedAction":{"name":"a","args":{"x":1}}}]}`))
	f.Add([]byte(`[{"type":"approve"}]`))
	f.Add([]byte(`{"type":"reject","message":"\ud800"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := Read(raw)
		if (err == nil) != (d.Kind != "") {
			t.Errorf("%q: %+v, %v", raw, d, err)
		}
		if d.Kind == Edit && !json.Valid(d.Args) {
			t.Errorf("%q: arguments %q", raw, d.Args)
		}
	})
}
