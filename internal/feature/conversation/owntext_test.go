package conversation

import "testing"

func TestOwnText(t *testing.T) {
	for kwargs, want := range map[string]string{
		`{}`:                               "x",
		`{"original_user_content":"mine"}`: "mine",
		`{"original_user_content":""}`:     "",
		`{"original_user_content":null}`:   "x",
		`{"original_user_content":["y"]}`:  "x",
	} {
		if got := OwnText(human(kwargs)); got != want {
			t.Errorf("%s: got %q", kwargs, got)
		}
	}
}
