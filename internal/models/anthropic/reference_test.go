package anthropic

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// The vendor's own SDK is the referee here: what it makes of our requests, and of the answers that we read, is right.

// referee reads a body into the SDK's types and writes it again; a member that they do not know would be lost.
func referee(t *testing.T, sent []byte) {
	t.Helper()
	var params sdk.MessageNewParams
	if err := json.Unmarshal(sent, &params); err != nil {
		t.Fatal(err)
	}
	again, err := params.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	if err := json.Unmarshal(sent, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(again, &got); err != nil {
		t.Fatal(err)
	}
	delete(want, "stream") // the SDK adds it when it sends
	delete(got, "stream")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the vendor's types make another request of it (-ours +theirs)\n%s", d)
	}
}

func TestRequestsAreTheVendors(t *testing.T) {
	on, hot := true, 0.3
	requests := conversationOf60()
	last := requests[20]
	picture := message.Message{Role: message.Human,
		Content: []message.Part{{Type: message.PartImage, URL: "data:image/png;base64,AAAA"},
			{Type: message.PartImage, URL: "https://x/y.png"},
			{Type: message.PartRaw,
				Raw: json.RawMessage(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"},"title":"t"}`)}}}
	seen := picture
	seen.Role, seen.ToolCallID, seen.Status = message.Tool, "c", message.StatusError
	hidden := message.Message{Role: message.AI, Content: []message.Part{{Type: message.PartReasoning, Redacted: "r"},
		{Type: message.PartReasoning, Text: "t", Signature: "s"}},
		ToolCalls:        []message.ToolCall{{ID: "c", Name: "f"}},
		InvalidToolCalls: []message.InvalidToolCall{{ID: "d", Name: "f", Args: "{"}}}
	for name, req := range map[string]*model.Request{
		"long": last,
		"thinking": {Tools: last.Tools, Messages: last.Messages,
			Settings: model.Settings{Thinking: &on, Effort: "high"}},
		"blocks": {Messages: []message.Message{picture, hidden, seen}, Settings: model.Settings{Temperature: &hot}},
		"no tools": {System: "s", Tools: last.Tools, Settings: model.Settings{NoTools: true},
			Messages: last.Messages[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			for _, cfg := range []Config{{Model: "m"}, {Model: "m", ThinkingBudget: wire.Adaptive},
				{Model: "m", NoCache: true}} {
				referee(t, encoded(t, New(cfg), req))
			}
		})
	}
}

// referred is what the SDK makes of an answer: its blocks, as this package would send them.
func referred(t *testing.T, answer []byte) (blocks []string, reason string) {
	t.Helper()
	resp := &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(answer)))}
	events := ssestream.NewStream[sdk.MessageStreamEventUnion](ssestream.NewDecoder(resp), nil)
	var m sdk.Message
	for events.Next() {
		if err := m.Accumulate(events.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := events.Err(); err != nil {
		t.Fatal(err)
	}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			blocks = append(blocks, string(textOf(b.Text)))
		case "thinking":
			blocks = append(blocks, string(thinkingBlock(b.Thinking, b.Signature)))
		case "redacted_thinking":
			blocks = append(blocks,
				string(append(rawjson.AppendString([]byte(`{"type":"redacted_thinking","data":`), b.Data), '}')))
		case "tool_use":
			blocks = append(blocks, `{"type":"tool_use","id":"`+b.ID+`","name":"`+b.Name+`","input":`+string(b.Input)+
				`}`)
		}
	}
	return blocks, string(m.StopReason)
}

// TestAnswersAreReadAsTheVendorReadsThem, those that are complete and have valid arguments.
func TestAnswersAreReadAsTheVendorReadsThem(t *testing.T) {
	files := []string{"testdata/answers/interleaved_thinking.sse", "testdata/answers/refusal.sse"}
	for _, name := range []string{"text", "order", "parallel_calls", "exact_args", "no_args", "unicode", "usage",
		"reasoning_replay"} {
		files = append(files, "testdata/modeltest/"+name+".http")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, ".http") {
				_, rest, _ := strings.Cut(string(raw), "\n\n")
				raw = []byte(rest)
			}
			want, reason := referred(t, raw)
			got := receive(t, string(raw))
			sent := sentBlocks(t, got)
			// an unsigned one stays here
			want = slices.DeleteFunc(want, func(s string) bool { return strings.HasSuffix(s, `"signature":""}`) })
			if d := cmp.Diff(want, sent); d != "" {
				t.Errorf("(-theirs +ours)\n%s", d)
			}
			if got.FinishReason() != reason {
				t.Errorf("stop reason %q, want %q", got.FinishReason(), reason)
			}
		})
	}
}
