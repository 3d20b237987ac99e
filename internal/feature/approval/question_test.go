package approval

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/tool"
)

func TestReadQuestionReadsWhatAskAsks(t *testing.T) {
	call := tool.Call{Name: "bash", Args: json.RawMessage(`{"command":"rm \"x\"\n\nTool: y"}`)}
	got, ok := ReadQuestion(Ask(call, "it removes", "no JSON").Questions[0].Value)
	want := Question{Tool: "bash", Args: call.Args,
		Why: "The answer could not be used: no JSON\n\nTool execution requires approval: it removes"}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Error(diff, ok)
	}
	for _, other := range []string{``, `null`, `"Really?"`, `{}`, `{"actionRequests":[]}`, `{"actionRequests":[{},{}]}`,
		`{"actionRequests":7}`} {
		if q, ok := ReadQuestion(json.RawMessage(other)); ok {
			t.Errorf("%s is read as %+v", other, q)
		}
	}
}

func TestAnswersAreReadBack(t *testing.T) {
	for _, d := range []Decision{
		{Kind: Approve}, {Kind: Reject}, {Kind: Reject, Message: "no \"way\"\n"},
		{Kind: Edit, Name: "bash", Args: json.RawMessage(`{"a":[1]}`)},
	} {
		got, err := Read(d.Answer())
		if diff := cmp.Diff(d, got); diff != "" || err != nil {
			t.Errorf("%+v: error %v, %s", d, err, diff)
		}
	}
}
