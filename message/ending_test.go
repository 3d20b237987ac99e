package message

import (
	"encoding/json"
	"testing"
)

func TestFinishReason(t *testing.T) {
	for _, c := range []struct {
		meta, reason string
		cut          bool
	}{
		{`{}`, "", false},
		{`{"finish_reason":"stop"}`, "stop", false},
		{`{"finish_reason":"length"}`, "length", true},
		{`{"finish_reason":"MAX_TOKENS"}`, "MAX_TOKENS", true},
		{`{"stop_reason":"max_tokens"}`, "max_tokens", true},
		{`{"finish_reason":null,"stop_reason":"refusal"}`, "refusal", false},
		{`{"finish_reason":"","stop_reason":"max_tokens"}`, "max_tokens", true},
		{`{"finish_reason":7}`, "", false},
	} {
		var m Message
		if err := json.Unmarshal([]byte(c.meta), &m.ResponseMetadata); err != nil {
			t.Fatal(err)
		}
		if got := m.FinishReason(); got != c.reason || m.Truncated() != c.cut {
			t.Errorf("%s: %q, truncated %t", c.meta, got, m.Truncated())
		}
	}
}

func TestWithoutCalls(t *testing.T) {
	kwargs := func(s string) Fields { return Fields{"tool_calls": json.RawMessage(s), "other": json.RawMessage(`1`)} }
	for name, c := range map[string]struct {
		m    Message
		asks bool
	}{
		"none":           {Message{Role: AI}, false},
		"valid":          {Message{Role: AI, ToolCalls: []ToolCall{{ID: "a"}}}, true},
		"invalid":        {Message{Role: AI, InvalidToolCalls: []InvalidToolCall{{ID: "a"}}}, true},
		"a raw copy":     {Message{Role: AI, Kwargs: kwargs(`[{"id":"a"}]`)}, true},
		"no raw call":    {Message{Role: AI, Kwargs: kwargs(`[]`)}, false},
		"an older copy":  {Message{Role: AI, Kwargs: Fields{"function_call": json.RawMessage(`{"name":"a"}`)}}, true},
		"null for calls": {Message{Role: AI, Kwargs: kwargs(`null`)}, false},
	} {
		before := len(c.m.Kwargs)
		if got := c.m.AsksForTools(); got != c.asks {
			t.Errorf("%s: asks %t", name, got)
		}
		clean := c.m.WithoutCalls()
		if clean.AsksForTools() || clean.Kwargs["tool_calls"] != nil {
			t.Errorf("%s: still asks: %+v", name, clean)
		}
		if len(c.m.Kwargs) != before || c.m.Kwargs["other"] != nil && clean.Kwargs["other"] == nil {
			t.Errorf("%s: changed what it must not", name)
		}
	}
}
