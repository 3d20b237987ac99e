package clarify

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/pudu-ai/pudu/tool"
)

func TestSpec(t *testing.T) {
	spec := New().Spec()
	if _, err := tool.ParseSchema(spec.Parameters); err != nil {
		t.Error(err)
	}
	// The middleware may answer a call so that the turn goes on; the result alone says that it ends.
	if spec.Name != "ask_clarification" || spec.ReturnDirect || spec.Effect != tool.Idempotent ||
		spec.Description == "" {
		t.Errorf("spec %+v", spec)
	}
}

// TestSchemaIsSmall: it is part of every request.
func TestSchemaIsSmall(t *testing.T) {
	spec := New().Spec()
	if n := len(spec.Name) + len(spec.Description) + len(spec.Parameters); n > 1300 ||
		bytes.ContainsRune(spec.Parameters, '\n') {
		t.Errorf("%d bytes", n)
	}
}

func TestRun(t *testing.T) {
	call := &tool.Call{ID: "call_38_0",
		Args: json.RawMessage(`{"question":"Which colour?","clarification_type":"approach_choice","options":"[\"red\",\"blue\"]"}`)}
	first, err := New().Run(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if first.Text() != "🔀 Which colour?\n\n  1. red\n  2. blue" || first.MessageID != "clarification:call_38_0" ||
		first.Goto != tool.End || first.IsError ||
		!bytes.Contains(first.Artifact, []byte(`"input_mode":"choice_with_other"`)) {
		t.Errorf("result %+v, artifact %s", first, first.Artifact)
	}
	again, _ := New().Run(t.Context(), call)
	if again.MessageID != first.MessageID || !bytes.Equal(again.Artifact, first.Artifact) {
		t.Error("the second run differs from the first")
	}
	if res, err := New().Run(t.Context(), &tool.Call{Args: json.RawMessage(`{"options":7`)}); err != nil ||
		res.Text() == "" || res.MessageID == "" {
		t.Errorf("broken arguments: %+v, %v", res, err)
	}
}
