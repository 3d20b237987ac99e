package main

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/tool"
)

func TestAskHuman(t *testing.T) {
	ask, err := askHuman()
	if err != nil {
		t.Fatal(err)
	}
	call := tool.Call{Name: "ask_human", Args: json.RawMessage(`{"action":"delete","target":"a.md"}`)}
	_, err = ask.Run(t.Context(), &call)
	var pause *tool.InterruptError
	if !errors.As(err, &pause) {
		t.Fatalf("got %v, want a question", err)
	}
	want := `{"action_requests":[{"name":"delete","args":{"target":"a.md"},"description":"May I delete a.md?"}],` +
		`"review_configs":[{"action_name":"delete","allowed_decisions":["approve","edit","reject"]}]}`
	if diff := cmp.Diff(want, string(pause.Questions[0].Value)); diff != "" {
		t.Error(diff)
	}
	call.Answer = json.RawMessage(`{"decisions":[{"type":"approve"}]}`)
	result, err := ask.Run(t.Context(), &call)
	if err != nil || result.Text() != string(call.Answer) {
		t.Errorf("got %v, %v, want the answer as it is", result, err)
	}
}
