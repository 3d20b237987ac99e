package wire

import (
	"encoding/json"
	"strings"
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

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"b\\c", "\x00\x1f\n\r\t", "ä€😀", "\xff\xc3", "<&>\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		raw := AppendString(nil, s)
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); strings.ReplaceAll(got, "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
			t.Errorf("%q became %q", s, got)
		}
	})
}
