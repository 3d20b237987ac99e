package openai

import (
	"os"
	"testing"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/model/modeltest"
)

// textStream is a complete answer of these texts.
func textStream(texts []string) []byte {
	var b []byte
	for _, s := range texts {
		b = append(b, `data: {"id":"c","object":"chat.completion.chunk","created":1700000000,"model":"test-model-1","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":`...)
		b = append(rawjson.AppendString(b, s), `},"logprobs":null,"finish_reason":null}]}`+"\n\n"...)
	}
	return append(b, `data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+
		"\n\ndata: [DONE]\n\n"...)
}

func newModel(t modeltest.Target) model.ChatModel {
	return New(Config{BaseURL: t.BaseURL, APIKey: t.Key, Model: t.Model, Client: t.Client, IdleTimeout: t.Idle,
		Dialect: "deepseek"})
}

func TestConformance(t *testing.T) {
	modeltest.Run(t, modeltest.Harness{New: newModel, Fixtures: os.DirFS("testdata/modeltest"), Text: textStream})
}
