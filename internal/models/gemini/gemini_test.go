package gemini

import (
	"os"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/model/modeltest"
)

// tail is what the API repeats in each event.
const tail = `"usageMetadata":{"promptTokenCount":1200,"candidatesTokenCount":20,"totalTokenCount":1220,"promptTokensDetails":[{"modality":"TEXT","tokenCount":1200}]},"modelVersion":"test-model-1","responseId":"resp_1"}` + "\n\n"

// textStream is a complete answer of these texts.
func textStream(texts []string) []byte {
	var b []byte
	for i, s := range texts {
		b = append(b, `data: {"candidates":[{"content":{"parts":[{"text":`...)
		b = append(rawjson.AppendString(b, s), `}],"role":"model"}`...)
		if i == len(texts)-1 {
			b = append(b, `,"finishReason":"STOP"`...)
		}
		b = append(b, `,"index":0}],`+tail...)
	}
	return b
}

func newModel(t modeltest.Target) model.ChatModel {
	return New(Config{BaseURL: t.BaseURL, APIKey: t.Key, Model: t.Model, Client: t.Client, IdleTimeout: t.Idle})
}

func TestConformance(t *testing.T) {
	modeltest.Run(t, modeltest.Harness{
		New:      newModel,
		Fixtures: os.DirFS("testdata/modeltest"),
		Text:     textStream,
		Impossible: map[string]string{
			"interleaved_calls":   "a call comes in one piece",
			"calls_without_index": "no call has an index, and each comes in one piece: the case parallel_calls",
			"cut_args":            "arguments are an object of the event, which comes as a whole or not at all",
			"bad_args":            "arguments are an object of the event; a call that is none ends with MALFORMED_FUNCTION_CALL",
			"half_runes":          "the API's texts are protobuf strings, which are valid UTF-8 each",
			"error_null":          "an error takes the place of an answer; no answer has the field",
			"no_credit":           "missing credit is 429 RESOURCE_EXHAUSTED, as in the case quota",
			"overloaded":          "the API says 503, as in the case unavailable",
		},
	})
}

func TestEndpoint(t *testing.T) {
	const google = "https://generativelanguage.googleapis.com"
	path := "/models/gemini-3-pro:streamGenerateContent?alt=sse"
	tests := []struct{ base, name, want string }{
		{google, "gemini-3-pro", google + "/v1beta" + path},
		{google + "/v1beta/", "models/gemini-3-pro", google + "/v1beta" + path},
		{google + "/v1beta/openai/", "gemini-3-pro", google + "/v1beta" + path},
		{google + "/v1", "gemini-3-pro", google + "/v1" + path},
		{google, "tunedModels/mine", google + "/v1beta/tunedModels/mine:streamGenerateContent?alt=sse"},
		{"http://gate/google?key=abcd", "gemini-3-pro", "http://gate/google/v1beta" + path + "&key=abcd"},
		{"nonsense", "gemini-3-pro", ""}, {"http://[", "gemini-3-pro", ""},
	}
	for _, tt := range tests {
		if got := endpoint(tt.base, tt.name); got != tt.want {
			t.Errorf("%s, %s: got %s, want %s", tt.base, tt.name, got, tt.want)
		}
	}
	_, err := model.Collect(New(Config{BaseURL: "nonsense"}).Stream(t.Context(), &model.Request{}))
	if e := model.AsError(err); e == nil || e.Class != model.ClassBadRequest ||
		!strings.Contains(e.Message, "base_url") {
		t.Errorf("error %v", err)
	}
}
