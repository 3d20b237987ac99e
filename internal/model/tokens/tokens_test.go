package tokens

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/message"
	"pgregory.net/rapid"
)

// TestTextIsNearToWhatTokenizersSay: low and high are the counts of two tokenizers in use (o200k and cl100k).
func TestTextIsNearToWhatTokenizersSay(t *testing.T) {
	tests := []struct {
		name, text string
		low, high  int
		off        float64 // how far outside the guess may be
	}{
		{"prose",
			"A run is a durable thing. Closing the tab, restarting the server, killing a node in the middle: the run goes on, and " +
				"every client can attach again and miss nothing. The code of an agent step can be read top to bottom in one sitting.", 52, 53, 0.15},
		{"json",
			`{"thread_id":"00000000-0000-4000-8000-000000000290","compacted":true,"reason":null,"removed_message_count":10,` +
				`"preserved_message_count":5,"total_tokens":173}`, 48, 49, 0.15},
		{"chinese", "人工智能是研究、开发用于模拟、延伸和扩展人的智能的理论、方法、技术及应用系统的一门新的技术科学。它企图了解智能的实质，并生产出一种新的能以人类智能相似的方式做出反应的" +
			"智能机器，该领域的研究包括机器人、语言识别、图像识别、自然语言处理和专家系统等。请帮我写一份关于市场分析的报告，并把结果保存到文件中。\n", 103, 168, 0.15},
		{"russian",
			"Искусственный интеллект — свойство искусственных интеллектуальных систем выполнять творческие функции, которые " +
				"традиционно считаются прерогативой человека. Сегодня хорошая погода, поэтому я хочу пойти гулять в парк.\n", 46, 105, 0.15},
		{"german",
			"Die künstliche Intelligenz ist ein Teilgebiet der Informatik, das sich mit der Automatisierung intelligenten Verhaltens " +
				"und dem maschinellen Lernen befasst. Der Begriff ist schwierig zu definieren, da es bereits an einer genauen Definition von " +
				"Intelligenz mangelt.\n", 58, 69, 0.15},
		{"base64", "yz+rWv2ndNkCMHOvMHKBYbZYMf7wJrEg1Z9ts1ZcTHA5EzEKyNgFUovvh0Pd3Ou3AR8sNRkQyGeVtCE0aE6fqA==\n", 62, 65,
			0.4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := float64(Text(tt.text))
			if got < float64(tt.low)*(1-tt.off) || got > float64(tt.high)*(1+tt.off) {
				t.Errorf("guessed %v, tokenizers say %d to %d", got, tt.low, tt.high)
			}
		})
	}
}

func TestTextGrowsWithTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		whole := Text(a + "\n" + b)
		if whole < Text(a) || whole < Text(b) || whole > Text(a)+Text(b)+2 {
			t.Fatalf("%q + %q: %d, the parts %d and %d", a, b, whole, Text(a), Text(b))
		}
	})
}

func TestMessageCountsAllThatIsSent(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	image := message.Part{Type: message.PartImage, URL: "data:image/png;base64," + strings.Repeat("A", 900_000)}
	tests := []struct {
		name      string
		m         message.Message
		low, high int
	}{
		{"text", message.New(message.Human, long), 1000, 1010},
		{"call", message.Message{Role: message.AI,
			ToolCalls: []message.ToolCall{{Name: "bash", Args: json.RawMessage(`{"command":"` + long + `"}`)}}}, 1000,
			1040},
		{"reasoning", message.Message{Role: message.AI,
			Content: []message.Part{{Type: message.PartReasoning, Text: long}}}, 1000, 1010},
		{"an image by its pixels, not its bytes", message.Message{Role: message.Human, Content: []message.Part{image}},
			700, 1700},
		{"an unknown block", message.Message{Role: message.Human,
			Content: []message.Part{{Type: message.PartRaw, Raw: make([]byte, 1<<20)}}}, 2000, 7000},
		{"what only clients see", message.Message{Role: message.Tool, Artifact: json.RawMessage(`"` + long + `"`)}, 0,
			10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if n := Messages([]message.Message{tt.m}); n < tt.low || n > tt.high {
				t.Errorf("%d tokens, want %d to %d", n, tt.low, tt.high)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", " ", "\xff\xfe", "héllo", "漢字", "🦌", "aB1\n\n\t {}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n := Text(s); n < 0 || n > 3*len(s) {
			t.Fatalf("%d tokens for %d bytes", n, len(s))
		}
	})
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat("func (r *run) step(ctx context.Context) error { return nil }\n", 800)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}
