package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// play folds events into a message. They need not be a complete answer.
func play(t *testing.T, events ...string) (message.Message, *stream) {
	t.Helper()
	s := &stream{origin: &wire.Origin{Provider: "p"}}
	var b message.Builder
	err := s.origin.Read(strings.NewReader("data: "+strings.Join(events, "\n\ndata: ")+"\n\n"), s,
		func(c message.Chunk, _ error) bool { b.Add(c); return true })
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return b.Message(), s
}

func TestThinkingIsKeptWithItsProof(t *testing.T) {
	got, _ := play(t,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s2"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"d"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"thinking","thinking":"","signature":"only"}}`,
		`{"type":"content_block_stop","index":2}`)
	want := []message.Part{{Type: message.PartReasoning, Text: "a", Signature: "s1s2"},
		{Type: message.PartReasoning, Redacted: "d"},
		{Type: message.PartReasoning, Signature: "only"}}
	if d := cmp.Diff(want, got.Content); d != "" {
		t.Error(d)
	}
}

// TestWhatComesTwiceIsTakenOnce is about blocks that say at their start what their pieces say again.
func TestWhatComesTwiceIsTakenOnce(t *testing.T) {
	got, _ := play(t,
		`{"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":30,"output_tokens":9}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"s1s2"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a","text":"a"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s2"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"1","name":"f","input":{"a":1}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":30,"output_tokens":9}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":30,"output_tokens":9}}`,
		`{"type":"message_stop"}`)
	if d := cmp.Diff([]message.Part{{Type: message.PartReasoning, Text: "a", Signature: "s1s2"}},
		got.Content); d != "" {
		t.Error(d)
	}
	if len(got.ToolCalls) != 1 || string(got.ToolCalls[0].Args) != `{"a":1}` {
		t.Errorf("calls %+v, invalid %+v", got.ToolCalls, got.InvalidToolCalls)
	}
	if got.Usage.TotalTokens != 39 || string(got.ResponseMetadata["finish_reason"]) != `"tool_use"` {
		t.Errorf("usage %+v, metadata %s", got.Usage, got.ResponseMetadata)
	}
}

func TestInputThatComesWithTheStart(t *testing.T) {
	got, _ := play(t,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"f","input":{"a": 1}}}`,
		`{"type":"content_block_stop","index":0}`)
	if len(got.ToolCalls) != 1 || string(got.ToolCalls[0].Args) != `{"a": 1}` {
		t.Errorf("%+v", got)
	}
}

func TestUsageCountsTheCacheAsInput(t *testing.T) {
	got, s := play(t, `{"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":30,"cache_creation_input_tokens":10,"cache_read_input_tokens":60,"output_tokens":1}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":20,"output_tokens_details":{"thinking_tokens":5}}}`,
		`{"type":"message_stop"}`)
	want := &message.Usage{InputTokens: 100, OutputTokens: 20, TotalTokens: 120, CacheRead: 60, CacheCreation: 10,
		Reasoning: 5}
	if d := cmp.Diff(want, got.Usage); d != "" {
		t.Error(d)
	}
	if string(got.ResponseMetadata["finish_reason"]) != `"refusal"` || !s.finished {
		t.Errorf("metadata %s, stopped %v", got.ResponseMetadata, s.finished)
	}
}

func TestUnknownBlocksAreLeftOut(t *testing.T) {
	got, s := play(t,
		`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"1","name":"web_search","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
		`{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"message_stop"}`)
	if len(got.Content)+len(got.ToolCalls)+len(got.InvalidToolCalls) > 0 || s.finished {
		t.Errorf("%+v", got)
	}
}

// TestAWholeAnswer is read as the streamed one of the same blocks is, each call at its place and its arguments as they
// are.
func TestAWholeAnswer(t *testing.T) {
	raw, err := os.ReadFile("testdata/answers/whole.json")
	if err != nil {
		t.Fatal(err)
	}
	var theirs sdk.Message
	if err := json.Unmarshal(raw, &theirs); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, b := range theirs.Content {
		want = append(want, b.RawJSON())
	}
	got := receive(t, string(raw))
	if d := cmp.Diff(want, sentBlocks(t, got)); d != "" {
		t.Errorf("(-theirs +ours)\n%s", d)
	}
	usage := &message.Usage{InputTokens: 100, OutputTokens: 20, TotalTokens: 120, CacheRead: 60, CacheCreation: 10}
	if d := cmp.Diff(usage, got.Usage); d != "" || got.FinishReason() != "tool_use" ||
		string(got.ResponseMetadata["id"]) != `"msg_1"` {
		t.Errorf("%s, %s: %s", got.FinishReason(), got.ResponseMetadata["id"], d)
	}
}

func TestAWholeAnswerThatIsNone(t *testing.T) {
	for body, class := range map[string]model.Class{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:               model.ClassBusy,
		`{"type":"message","id":"msg_1","content":[{"type":"text","text":"a"}],"stop_reason":null}`: model.ClassTransient,
		`{"type":"message","con`: model.ClassTransient,
	} {
		_, err := readAll(strings.NewReader(body))
		if e := model.AsError(err); e == nil || e.Class != class {
			t.Errorf("%s: error %v", body, err)
		}
	}
}
