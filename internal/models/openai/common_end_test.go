package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pudu-ai/pudu/internal/rawjson"
)

// endings are events with the usage of an answer as vendors send them: behind the last choice, or together with it.
var endings = []string{
	`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,` +
		`"prompt_tokens_details":{"cached_tokens":8,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0}}}`,
	`{"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":1}}`,
	`{"choices":[],"usage":{"cached_tokens":3,"prompt_tokens_details":{"cache_write_tokens":4}}}`, `{"choices":[],"usage":null}`, `{"usage":{}}`,
}

func TestEndingsCostLittle(t *testing.T) {
	for _, data := range endings {
		if !commonEnd([]byte(data), &event{}) {
			t.Errorf("%s: went the long way", data)
		}
	}
}

// FuzzCommonEnd demands of [commonEnd] what FuzzCommonEvent demands of [common].
func FuzzCommonEnd(f *testing.F) {
	for _, list := range [][]string{everyday, pieces, uncommon, endings} {
		for _, data := range list {
			f.Add([]byte(data))
		}
	}
	for _, data := range []string{
		`{"usage":{"prompt_tokens":1},"usage":null}`, `{"usage":{"prompt_tokens":1},"usage":{"total_tokens":2}}`, `{"usage":null,"usage":{"total_tokens":2}}`,
		`{"usage":{"prompt_tokens":null}}`, `{"usage":{"prompt_tokens":1.5}}`, `{"usage":{"prompt_tokens":-1}}`, `{"usage":{"prompt_tokens":12345678901}}`,
		`{"usage":{"Prompt_tokens":1}}`, `{"usage":{"prompt_tokens_details":null}}`, `{"usage":{"prompt_tokens_details":{"cached_tokens":1},"prompt_tokens_details":{}}}`,
		`{"choices":[],"choices":[{"index":1}]}`, `{"choices":[{"index":1}],"choices":[]}`, `{"usage":7}`, `{"usage":[]}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var quick, want event
		if !commonEnd(data, &quick) {
			return
		}
		if err := json.Unmarshal(data, &event{}); err != nil {
			t.Fatalf("read %q the short way, but: %v", data, err)
		}
		_ = rawjson.Unmarshal(data, &want)
		if d := cmp.Diff(want, quick, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q the short way: %s", data, d)
		}
	})
}
