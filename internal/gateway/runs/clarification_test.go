package runs_test

import (
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/middleware/clarification"
	"github.com/pudu-ai/pudu/internal/models/scripted"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
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

// TestClarificationsOverTheAPI: a question ends a run as a success, and the answer is the next run's input, as a
// button, as a Form or in words.
func TestClarificationsOverTheAPI(t *testing.T) {
	model, err := scripted.New(scripted.Config{Path: "asking", Script: []byte(asking)})
	if err != nil {
		t.Fatal(err)
	}
	tools := append(gateways.Tools(), clarify.New())
	k := gateways.NewOf(t, agent.Config{Model: model, Tools: tools}, nil, clarification.New(clarification.Config{}))
	input := func(message string) string {
		return `{"assistant_id":"lead_agent","if_not_exists":"create","input":{"messages":[` + message + `]}}`
	}
	reply := func(value string) string {
		return input(`{"type":"human","content":"","additional_kwargs":{"hide_from_ui":true,"human_input_response":{"version":1,` +
			`"kind":"human_input_response","source":"ask_clarification","request_id":"{request}",` + value + `}}}`)
	}
	const wait = "/api/threads/{thread}/runs/wait"
	k.Vars["thread"] = "t1"
	k.Play([]gateways.Scenario{
		{
			Name: "a choice", Method: "POST", Path: wait, Body: input(`{"type":"human","content":"paint it"}`),
			Status: 200,
			Want: `{"messages":[{"content":"paint it"},{"type":"ai"},{"type":"tool","name":"ask_clarification",
				"status":"success","content":"❓ Which colour?\n\n  1. Red\n  2. Blue",
				"artifact":{"human_input":{"version":1,"kind":"human_input_request",
				"input_mode":"choice_with_other","options":[{"id":"option-1","label":"Red","value":"r"},{"id":"option-2"}]}}},
				{"type":"tool","name":"count","content":"counted"}]}`,
			Keep: map[string]string{"messages.2.id": "request"},
		},
		{
			Name: "it is no interrupt", Method: "GET", Path: "/api/threads/{thread}", Status: 200,
			Want: `{"status":"idle"}`,
		},
	})
	k.Play([]gateways.Scenario{
		{
			Name: "the button", Method: "POST", Path: wait,
			Body: reply(`"response_kind":"option","option_id":"option-1","value":"r"`), Status: 200,
			Want: `{"messages":["*","*","*","*",{"type":"human","content":"Answer to your question \"Which colour?\": Red (r)"},
				{"type":"ai","content":"You said: Answer to your question \"Which colour?\": Red (r)"}]}`,
		},
		{
			Name: "a form", Method: "POST", Path: "/api/threads/t2/runs/wait",
			Body: input(`{"type":"human","content":"plan it"}`), Status: 200,
			Want: `{"messages":["*","*",{"name":"ask_clarification","artifact":{"human_input":{"version":2,
				"input_mode":"form","fields":[{"name":"city","label":"City","type":"text","required":true}]}}}]}`,
			Keep: map[string]string{"messages.2.id": "request"},
		},
	})
	k.Play([]gateways.Scenario{
		{
			Name: "the form filled in", Method: "POST", Path: "/api/threads/t2/runs/wait",
			Body: reply(`"response_kind":"text","value":{"city":"Rome"}`), Status: 200,
			Want: `{"messages":["*","*","*","*",{"type":"ai",
				"content":"You said: Answer to your question \"Your trip?\":\nCity: Rome"}]}`,
		},
		{
			Name: "words", Method: "POST", Path: "/api/threads/t2/runs/wait",
			Body: input(`{"type":"human","content":"Rome, I said"}`), Status: 200,
			Want: `{"messages":["*","*","*","*","*","*",{"content":"You said: Rome, I said"}]}`,
		},
	})
	resume := func(value string) string { return `{"assistant_id":"lead_agent","command":{"resume":` + value + `}}` }
	const quietly = "/api/threads/t3/runs/wait"
	k.Play([]gateways.Scenario{
		{
			Name: "one more question", Method: "POST", Path: quietly,
			Body: input(`{"type":"human","content":"paint it"}`), Status: 200, Want: `{}`,
			Keep: map[string]string{"messages.2.artifact.human_input.request_id": "request"},
		},
		{
			Name: "no answer at all", Method: "POST", Path: quietly, Body: resume(`{"decisions":[]}`), Status: 422,
			Want: `{"detail":"this answers no question: the thread waits for an answer to \"Which colour?\": ` +
				`resume it with a string, or with an object {\"{request}\": a string}"}`,
		},
		{
			Name: "a command that resumes nothing goes on, and there is nothing to go on with", Method: "POST",
			Path: quietly, Body: resume("null"), Status: 200, Want: `{"messages":["*","*","*","*"],"__error__":"*"}`,
		},
	})
	k.Play([]gateways.Scenario{
		{
			Name: "the answer as LangGraph's clients send it", Method: "POST", Path: quietly,
			Body: resume(`{"{request}":"r"}`), Status: 200,
			Want: `{"messages":["*","*","*","*",{"type":"human",
				"additional_kwargs":{"human_input_response":{"request_id":"{request}","response_kind":"option","option_id":"option-1"}}},
				{"type":"ai","content":"You said: Answer to your question \"Which colour?\": Red (r)"}]}`,
		},
		{
			Name: "an answer that nobody waits for", Method: "POST", Path: quietly, Body: resume(`"more"`),
			Status: 200, Want: `{"messages":["*","*","*","*","*","*"]}`,
		},
		{
			Name: "of which the run tells", Method: "GET", Path: "/api/threads/t3/runs?limit=1", Status: 200,
			Want: `[{"status":"success",
				"metadata":{"pudu_warnings":["command.resume: nothing was resumed, because the thread waits for no answer"]}}]`,
		},
	})
}
