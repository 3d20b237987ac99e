package gateway

import (
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/middleware/clarification"
	"github.com/pudu-ai/pudu/internal/models/scripted"
	"github.com/pudu-ai/pudu/internal/tools/clarify"
)

// asking is a model that asks beside another call, and then repeats what it was told.
const asking = `{"dialogues": [
	{"match": "^paint", "turns": [
		{"tool_calls": [
			{"name": "ask_clarification", "args": {"question": "Which colour?", "options": [{"label": "Red", "value": "r"}, "Blue"]}},
			{"name": "count", "args": {}}]},
		{"text": "I did not wait."}]},
	{"match": "^plan", "turns": [
		{"tool_calls": [{"name": "ask_clarification", "args": {"question": "Your trip?", "fields": [{"name": "city", "label": "City", "required": true}]}}]}]},
	{"turns": [{"text": "You said: {{.User}}"}]}]}`

// TestClarificationsOverTheAPI: a question ends a run as a success, and the answer is the next run's input, as a button, as a
// form or in words.
func TestClarificationsOverTheAPI(t *testing.T) {
	model, err := scripted.New(scripted.Config{Path: "asking", Script: []byte(asking)})
	if err != nil {
		t.Fatal(err)
	}
	tools := append(kitTools(), clarify.New())
	k := newServerOf(t, agent.Config{Model: model, Tools: tools}, nil, clarification.New(clarification.Config{}))
	input := func(message string) string {
		return `{"assistant_id":"lead_agent","if_not_exists":"create","input":{"messages":[` + message + `]}}`
	}
	reply := func(value string) string {
		return input(`{"type":"human","content":"","additional_kwargs":{"hide_from_ui":true,"human_input_response":{"version":1,` +
			`"kind":"human_input_response","source":"ask_clarification","request_id":"{request}",` + value + `}}}`)
	}
	const wait = "/api/threads/{thread}/runs/wait"
	k.vars["thread"] = "t1"
	k.play([]scenario{
		{name: "a choice", method: "POST", path: wait, body: input(`{"type":"human","content":"paint it"}`), status: 200,
			want: `{"messages":[{"content":"paint it"},{"type":"ai"},{"type":"tool","name":"ask_clarification","status":"success","content":"❓ Which colour?\n\n  1. Red\n  2. Blue",
				"artifact":{"human_input":{"version":1,"kind":"human_input_request","input_mode":"choice_with_other","options":[{"id":"option-1","label":"Red","value":"r"},{"id":"option-2"}]}}},
				{"type":"tool","name":"count","content":"counted"}]}`,
			keep: map[string]string{"messages.2.id": "request"}},
		{name: "it is no interrupt", method: "GET", path: "/api/threads/{thread}", status: 200, want: `{"status":"idle"}`},
	})
	k.play([]scenario{
		{name: "the button", method: "POST", path: wait, body: reply(`"response_kind":"option","option_id":"option-1","value":"r"`), status: 200,
			want: `{"messages":["*","*","*","*",{"type":"human","content":"Answer to your question \"Which colour?\": Red (r)"},
				{"type":"ai","content":"You said: Answer to your question \"Which colour?\": Red (r)"}]}`},
		{name: "a form", method: "POST", path: "/api/threads/t2/runs/wait", body: input(`{"type":"human","content":"plan it"}`), status: 200,
			want: `{"messages":["*","*",{"name":"ask_clarification","artifact":{"human_input":{"version":2,"input_mode":"form","fields":[{"name":"city","label":"City","type":"text","required":true}]}}}]}`,
			keep: map[string]string{"messages.2.id": "request"}},
	})
	k.play([]scenario{
		{name: "the form filled in", method: "POST", path: "/api/threads/t2/runs/wait", body: reply(`"response_kind":"text","value":{"city":"Rome"}`), status: 200,
			want: `{"messages":["*","*","*","*",{"type":"ai","content":"You said: Answer to your question \"Your trip?\":\nCity: Rome"}]}`},
		{name: "words", method: "POST", path: "/api/threads/t2/runs/wait", body: input(`{"type":"human","content":"Rome, I said"}`), status: 200,
			want: `{"messages":["*","*","*","*","*","*",{"content":"You said: Rome, I said"}]}`},
	})
	resume := func(value string) string { return `{"assistant_id":"lead_agent","command":{"resume":` + value + `}}` }
	const quietly = "/api/threads/t3/runs/wait"
	k.play([]scenario{
		{name: "one more question", method: "POST", path: quietly, body: input(`{"type":"human","content":"paint it"}`), status: 200,
			want: `{}`, keep: map[string]string{"messages.2.artifact.human_input.request_id": "request"}},
		{name: "no answer at all", method: "POST", path: quietly, body: resume(`{"decisions":[]}`), status: 422,
			want: `{"detail":"this answers no question: the thread waits for an answer to \"Which colour?\": resume it with a string, or with an object {\"{request}\": a string}"}`},
		{name: "a command that resumes nothing goes on, and there is nothing to go on with", method: "POST", path: quietly, body: resume("null"), status: 200,
			want: `{"messages":["*","*","*","*"],"__error__":"*"}`},
	})
	k.play([]scenario{
		{name: "the answer as LangGraph's clients send it", method: "POST", path: quietly, body: resume(`{"{request}":"r"}`), status: 200,
			want: `{"messages":["*","*","*","*",{"type":"human","additional_kwargs":{"human_input_response":{"request_id":"{request}","response_kind":"option","option_id":"option-1"}}},
				{"type":"ai","content":"You said: Answer to your question \"Which colour?\": Red (r)"}]}`},
		{name: "an answer that nobody waits for", method: "POST", path: quietly, body: resume(`"more"`), status: 200, want: `{"messages":["*","*","*","*","*","*"]}`},
		{name: "of which the run tells", method: "GET", path: "/api/threads/t3/runs?limit=1", status: 200,
			want: `[{"status":"success","metadata":{"pudu_warnings":["command.resume: nothing was resumed, because the thread waits for no answer"]}}]`},
	})
}
