package wire

import (
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func TestAppendFields(t *testing.T) {
	f := message.Fields{"b": []byte(`{ "x" : 1 }`), "a": []byte(`"<&>"`), "skip": []byte(`1`), "empty": nil}
	got := string(append(AppendFields([]byte(`{`), f, "skip"), '}'))
	if want := `{"a":"<&>","b":{ "x" : 1 }}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRoomFor: whatever is long is counted, with a share for what must be escaped.
func TestRoomFor(t *testing.T) {
	long := strings.Repeat("x", 8000)
	for name, req := range map[string]*model.Request{
		"system": {System: long},
		"tool":   {Tools: []model.Tool{{Description: long[:4000], Parameters: []byte(long[:4000])}}},
		"text":   {Messages: []message.Message{message.New(message.Human, long)}},
		"signature": {Messages: []message.Message{{Content: []message.Part{{Signature: long[:4000],
			Redacted: long[:4000]}}}}},
		"image": {Messages: []message.Message{{Content: []message.Part{{URL: long[:4000],
			Raw: []byte(long[:4000])}}}}},
		"call": {Messages: []message.Message{{ToolCalls: []message.ToolCall{{Args: []byte(long[:4000]),
			Extra: message.Fields{"s": []byte(long[:4000])}}}}}},
	} {
		if n := RoomFor(req); n < 9000 || n > 11000 {
			t.Errorf("%s: room for %d bytes", name, n)
		}
	}
}
