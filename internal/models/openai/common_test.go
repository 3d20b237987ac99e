package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// everyday are events as vendors send them for each piece of text.
var everyday = []string{
	`{"id":"c","object":"chat.completion.chunk","created":1700000000,"model":"m","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x9"}`,
	`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}`,
	`{"id":"c","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"why \"\u00e4\ud83d"},"finish_reason":null}]}`,
	`{"id":"c","provider":"P","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi","reasoning":null},"finish_reason":null,"native_finish_reason":null}]}`,
	` { "choices" : [ { "delta" : { "content" : "\n" , "tool_calls" : null } , "done" : false , "more" : true } ] , "error" : null } `,
	`{"choices":[{"index":0,"delta":{"content":"a","function_call":null,"audio":null}}]}`,
	`{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"a"}]}}],"x":{"Y":[-1.5e3]}}`,
	`{}`, `{"choices":[{}]}`, `{"choices":[{"delta":{}}]}`,
}

// pieces are events of tool calls and of an answer's end.
var pieces = []string{
	`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"ls","arguments":""}}]},"finish_reason":null}]}`,
	`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"pa"}},null]},"finish_reason":null}]}`,
	`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `{"choices":[{"index":0,"finish_reason":""}]}`,
}

func TestPiecesCostLittle(t *testing.T) {
	for _, data := range pieces {
		var ev event
		if !common([]byte(data), &ev) {
			t.Errorf("%s: went the long way", data)
		}
		in := []byte(data)
		if n := testing.AllocsPerRun(10, func() { _ = ev.decode(in) }); n > 2 {
			t.Errorf("%s: %v allocations", data, n)
		}
	}
}

// uncommon are events that must not be read in the short way: not valid, or of another meaning than a glance suggests.
var uncommon = []string{
	``, ` `, `null`, `[]`, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{"a":1 "b":2}`,
	`{}}`, `{} x`, "{}\x00", `{"a":01}`, `{"a":nul}`, `{"a":nullx}`, `{"a":truefalse}`, `{"a":}`, `{"a":"\x"}`,
	`{"a":"\u12g4"}`, `{"a":"\`, `{"a":"\u12`, "{\"a\":\"\n\"}", `{"Choices":[]}`, `{"choice\u0073":[]}`,
	"{\"choice\u017f\":[]}", `{"choices":null}`, `{"choices":{}}`, `{"choices":[{},{}]}`, `{"choices":[null]}`,
	`{"choices":[{}],"choices":[{}]}`, `{"choices":[{"index":00}]}`, `{"choices":[{"index":"0"}]}`,
	`{"choices":[{"message":{"content":"a"}}]}`, `{"choices":[{"usage":{}}]}`, `{"choices":[{"delta":null}]}`,
	`{"choices":[{"delta":"a"}]}`, `{"choices":[{"delta":{"tool_calls":[]}}]}`,
	`{"choices":[{"delta":{"function_call":{"name":"f"}}}]}`, `{"choices":[{"delta":{"reasoning_details":[{}]}}]}`,
	`{"error":"boom"}`, `{"error":{}}`, `{"usage":{"prompt_tokens":1},"usage":null}`,
	`{"usage":{"prompt_tokens":1},"usage":{"total_tokens":2}}`, `{"usage":7}`, `{"usage":[]}`,
	`{"usage":{"prompt_tokens":null}}`, `{"usage":{"prompt_tokens":1.5}}`, `{"usage":{"prompt_tokens":-1}}`,
	`{"usage":{"prompt_tokens":12345678901}}`, `{"usage":{"Prompt_tokens":1}}`,
	`{"usage":{"prompt_tokens_details":null}}`, `{"choices":[{"index":1}],"choices":[]}`,
}

func TestEverydayEventsCostNothing(t *testing.T) {
	for _, data := range everyday {
		var ev event
		if !common([]byte(data), &ev) {
			t.Errorf("%s: went the long way", data)
		}
		in := []byte(data)
		if n := testing.AllocsPerRun(10, func() { _ = ev.decode(in) }); n > 0 {
			t.Errorf("%s: %v allocations", data, n)
		}
	}
}

// endings are events with the usage of an answer as vendors send them: behind the last choice, or together with it.
// encoding/json reads them, since an answer has one of them.
var endings = []string{
	`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,` +
		`"prompt_tokens_details":{"cached_tokens":8,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0}}}`,
	`{"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":1}}`,
	`{"choices":[],"usage":{"cached_tokens":3,"prompt_tokens_details":{"cache_write_tokens":4}}}`, `{"usage":{}}`,
	`{"choices":[]}`,
}

func TestUncommonEventsGoTheLongWay(t *testing.T) {
	for _, data := range append(endings, uncommon...) {
		if common([]byte(data), &event{}) {
			t.Errorf("%s: was read the short way", data)
		}
	}
}

// FuzzCommonEvent demands that the short way is only shorter: an event used again holds what encoding/json alone reads,
// with the same error, whatever it held before.
func FuzzCommonEvent(f *testing.F) {
	for _, list := range [][]string{everyday, pieces, endings, uncommon} {
		for _, data := range list {
			f.Add([]byte(data))
		}
	}
	f.Add([]byte(`{"choices":[{"delta":{"content":"a","content":"b"},"delta":{"reasoning":"c"},"index":0,"index":0}],"error":null,"error":null}`))
	f.Add([]byte(`{"usage":null,"usage":{"total_tokens":2},"choices":[],"choices":[{"index":1}]}`))
	f.Add([]byte(`{"usage":{"prompt_tokens_details":{"cached_tokens":1},"prompt_tokens_details":{}}}`))
	f.Add([]byte("{\"choices\":[{\"delta\":{\"content\":\"\xf0\x9f\",\"content\":5}}]}"))
	f.Add([]byte(`{"choices":[{"delta":{"content":"a"}}],"choices":[{"index":"x"},{"index":2}],"usage":7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var quick, want event
		wantErr := rawjson.Unmarshal(data, &want)
		if common(data, &quick) {
			if err := json.Unmarshal(data, &event{}); err != nil {
				t.Fatalf("read %q the short way, but: %v", data, err)
			}
			if d := cmp.Diff(want, quick); d != "" {
				t.Errorf("%q the short way: %s", data, d)
			}
		}
		var again event
		_ = again.decode([]byte(`{"choices":[{"index":3,"delta":{"content":"old","tool_calls":[1]},"finish_reason":"old"},{"index":4}],"usage":{},"error":1}`))
		err := again.decode(data)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%q: error %v, want %v", data, err, wantErr)
		}
		if d := cmp.Diff(want, again, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q read into an event used before: %s", data, d)
		}
	})
}

// FuzzCommonCall demands the same of the pieces of tool calls.
func FuzzCommonCall(f *testing.F) {
	for _, piece := range []string{
		`{"index":0,"function":{"arguments":"{\"a"}}`,
		`{"index":1,"id":"c","type":"function","function":{"name":"ls","arguments":""}}`,
		`{"index":0,"index":2,"id":"a","id":null,"function":{"name":"x"},"function":{"arguments":null}}`,
		`{"index":10,"id":"\u0061"}`, `{"id":"\n","function":{"arguments":{"a":1}}}`, `{"extra_content":{}}`, `7`,
		`{"index":-1}`,
	} {
		f.Add([]byte(piece))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var quick, want callDelta
		if !commonCall(data, &quick) {
			return
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("read %q the short way, but: %v", data, err)
		}
		if d := cmp.Diff(want, quick); d != "" {
			t.Errorf("%q the short way: %s", data, d)
		}
		if extra := unknownFields(data); extra != nil {
			t.Errorf("%q the short way loses %v", data, extra)
		}
	})
}
