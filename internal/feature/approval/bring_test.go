package approval

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/tool"
)

// TestAQuestionNamesWhatItsAnswerBrings: once each, and needed if one of those who name it needs it; a question of
// another shape stays.
func TestAQuestionNamesWhatItsAnswerBrings(t *testing.T) {
	asked := Ask(tool.Call{Name: "bash", Args: json.RawMessage(`{"command":"touch a"}`)}, "it writes", "")
	before := string(asked.Questions[0].Value)
	if got := Bring(asked, nil); got != asked || strings.Contains(before, `"secrets"`) {
		t.Errorf("nothing to bring: %s", got.Questions[0].Value)
	}
	first := Bring(asked, []Secret{{"A", true}, {"B", true}})
	both := Bring(first, []Secret{{"A", false}, {"C", false}, {"C", true}})
	var v struct {
		Secrets []Secret `json:"secrets"`
	}
	raw := both.Questions[0].Value
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Secret{{"A", false}, {"B", true}, {"C", false}}, v.Secrets); diff != "" {
		t.Error(diff)
	}
	if q, ok := ReadQuestion(raw); !ok || q.Tool != "bash" || !IsQuestion(raw) {
		t.Errorf("it is a question still: %+v, %v", q, ok)
	}
	if string(asked.Questions[0].Value) != before {
		t.Error("the question that was given has changed")
	}
	other := &tool.InterruptError{Questions: []tool.Question{{ID: "x", Value: json.RawMessage(`"may I?"`)}}}
	if got := Bring(other, []Secret{{Name: "A"}}); string(got.Questions[0].Value) != `"may I?"` ||
		got.Questions[0].ID != "x" {
		t.Errorf("a question of another shape: %+v", got.Questions[0])
	}
}
