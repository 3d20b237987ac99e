package history

import (
	"encoding/json"
	"testing"

	"github.com/pudu-ai/pudu/message"
)

// TestTokensOf: what an answer took is read of it as it is stored.
func TestTokensOf(t *testing.T) {
	answer := message.New(message.AI, "Done.")
	raw := func() json.RawMessage {
		raw, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	if n := tokensOf(raw()); n != 0 {
		t.Errorf("an answer without usage took %d", n)
	}
	answer.Usage = &message.Usage{InputTokens: 5, OutputTokens: 2, TotalTokens: 7}
	if n := tokensOf(raw()); n != 7 {
		t.Errorf("tokens = %d, want 7, of %s", n, raw())
	}
	for _, odd := range []string{`{"usage_metadata":{"total_tokens":-1}}`, `{"usage_metadata":{"total_tokens":"x"}}`,
		`{"usage_metadata":7}`, `7`} {
		if n := tokensOf(json.RawMessage(odd)); n != 0 {
			t.Errorf("tokens of %s = %d", odd, n)
		}
	}
}
