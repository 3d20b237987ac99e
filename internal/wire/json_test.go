package wire

import (
	"testing"

	"github.com/pudu-ai/pudu/message"
)

func TestAppendFields(t *testing.T) {
	f := message.Fields{"b": []byte(`{ "x" : 1 }`), "a": []byte(`"<&>"`), "skip": []byte(`1`), "empty": nil}
	got := string(append(AppendFields([]byte(`{`), f, "skip"), '}'))
	if want := `{"a":"<&>","b":{ "x" : 1 }}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
