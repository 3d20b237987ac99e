package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// cacheSim is the vendor's prompt cache, as its page "Prompt caching" tells: a request keeps its prompt up to each
// mark, and reads the longest prompt that was kept before, looking at each mark and the blocks before it, 20 in all.
type cacheSim struct{ kept map[[32]byte]bool }

const lookback = 20

// prefix is a prompt up to the end of one of its blocks.
type prefix struct {
	hash   [32]byte
	marked bool
}

// prefixes takes a body apart, in the order in which the vendor does: tools, system, messages.
func prefixes(t *testing.T, body []byte) []prefix {
	t.Helper()
	var in struct {
		Tools, System []map[string]json.RawMessage
		Messages      []struct {
			Role    string
			Content []map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		t.Fatal(err)
	}
	var out []prefix
	var last [32]byte
	add := func(where string, block map[string]json.RawMessage) {
		_, marked := block["cache_control"]
		delete(block, "cache_control")
		last = sha256.Sum256(fmt.Appendf(nil, "%x %s %s", last, where, rawjson.FromMembers(block)))
		out = append(out, prefix{last, marked})
	}
	for _, b := range in.Tools {
		add("tools", b)
	}
	for _, b := range in.System {
		add("system", b)
	}
	for _, m := range in.Messages {
		for _, b := range m.Content {
			add(m.Role, b)
		}
	}
	return out
}

// send returns how many blocks a request reads, how many are kept after it, and how many it has.
func (c *cacheSim) send(t *testing.T, body []byte) (read, kept, all int) {
	t.Helper()
	list, marks := prefixes(t, body), 0
	for i, p := range list {
		if !p.marked {
			continue
		}
		marks++
		for j := i; j >= 0 && j > i-lookback; j-- {
			if c.kept[list[j].hash] {
				read = max(read, j+1)
				break
			}
		}
	}
	for i, p := range list {
		if p.marked {
			c.kept[p.hash], kept = true, i+1
		}
	}
	if marks > 4 {
		t.Errorf("%d marks, the API takes 4", marks)
	}
	return read, kept, len(list)
}

// step is an answer with n parallel calls and their results.
func step(i, n int) []message.Message {
	ai := message.Message{Role: message.AI,
		Content: []message.Part{{Type: message.PartReasoning, Text: "t", Signature: fmt.Sprint("s", i)},
			message.Text("next")}}
	out := []message.Message{ai}
	for k := range n {
		id := fmt.Sprintf("c%d_%d", i, k)
		out[0].ToolCalls = append(out[0].ToolCalls, message.ToolCall{ID: id, Name: "f", Args: json.RawMessage(`{}`)})
		out = append(out, message.Message{Role: message.Tool, ToolCallID: id,
			Content: []message.Part{message.Text(fmt.Sprint("result ", i, k))}})
	}
	return out
}

// conversationOf60 are the requests of an agent that works in 60 steps: single calls, up to 25 at once, notes of the
// harness between them, and a new question now and then.
func conversationOf60() []*model.Request {
	msgs := []message.Message{message.New(message.Human, "Do it.")}
	var out []*model.Request
	for i := range 60 {
		out = append(out, &model.Request{System: "Be brief.", Tools: []model.Tool{{Name: "f"}, {Name: "g"}},
			Messages: slices.Clip(msgs)})
		switch {
		case i%10 == 9:
			msgs = append(msgs, message.New(message.AI, "Done."),
				message.New(message.Human, fmt.Sprint("Question ", i)))
		case i%7 == 3:
			msgs = append(append(msgs, step(i, 1)...), message.New(message.System, "A note."))
		case i%6 == 0:
			msgs = append(msgs, step(i, 25)...)
		default:
			msgs = append(msgs, step(i, 1+i%4)...)
		}
	}
	return out
}

func encoded(t *testing.T, m *Model, req *model.Request) []byte {
	t.Helper()
	raw, _, err := m.encode(req)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestEveryRequestReadsWhatTheOneBeforeWrote also when every fifth request fails and keeps nothing.
func TestEveryRequestReadsWhatTheOneBeforeWrote(t *testing.T) {
	for name, fails := range map[string]int{"all succeed": 0, "every fifth fails": 5} {
		t.Run(name, func(t *testing.T) {
			m, sim, before := New(Config{}), cacheSim{map[[32]byte]bool{}}, 0
			for i, req := range conversationOf60() {
				body := encoded(t, m, req)
				if fails > 0 && i%fails == fails-1 {
					continue
				}
				read, kept, all := sim.send(t, body)
				if read < before {
					t.Errorf("request %d reads %d blocks, %d were kept", i, read, before)
				}
				if kept != all {
					t.Errorf("request %d keeps %d of %d blocks", i, kept, all)
				}
				before = kept
			}
		})
	}
}

// TestEachMarkIsNeeded shows that the simulation can tell: with fewer marks something is not read.
func TestEachMarkIsNeeded(t *testing.T) {
	m, sim, missed := New(Config{CacheMessages: 1}), cacheSim{map[[32]byte]bool{}}, 0
	before := 0
	for _, req := range conversationOf60() {
		read, kept, _ := sim.send(t, encoded(t, m, req))
		if read < before {
			missed++
		}
		before = kept
	}
	if missed == 0 {
		t.Error("a mark at the end alone read everything")
	}
}

func TestCacheMarks(t *testing.T) {
	tools := []model.Tool{{Name: "f"}}
	three := []message.Message{message.New(message.Human, "1"), message.New(message.AI, "a"),
		message.New(message.Human, "2"),
		message.New(message.AI, "b"), message.New(message.Human, "3"), message.New(message.AI, "c"),
		message.New(message.Human, "4")}
	document := message.Message{Role: message.Human, Content: []message.Part{{Type: message.PartRaw,
		Raw: json.RawMessage(`{"type":"document","cache_control":{"type":"ephemeral"},"source":{}} `)}}}
	for _, tt := range []struct {
		name string
		cfg  Config
		req  model.Request
		want string // the blocks with a mark
	}{
		{"system covers tools", Config{}, model.Request{System: "s", Tools: tools, Messages: three}, `s 2 3 4`},
		{"tools alone", Config{}, model.Request{Tools: tools, Messages: three[:1]}, `f 1`},
		{"fewer", Config{CacheMessages: 1}, model.Request{System: "s", Messages: three}, `s 4`},
		{"more than there are", Config{CacheMessages: 9}, model.Request{System: "s", Messages: three}, `s 2 3 4`},
		{"none", Config{NoCache: true}, model.Request{System: "s", Tools: tools, Messages: three}, ``},
		{"a document, whose own mark does not count", Config{},
			model.Request{Messages: []message.Message{document, three[0]}}, `1`},
		{"a document at the end", Config{}, model.Request{Messages: []message.Message{document}}, `document`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var in struct {
				Tools, System []map[string]json.RawMessage
				Messages      []struct{ Content []map[string]json.RawMessage }
			}
			if err := json.Unmarshal(encoded(t, New(tt.cfg), &tt.req), &in); err != nil {
				t.Fatal(err)
			}
			blocks := append(in.Tools, in.System...)
			for _, m := range in.Messages {
				blocks = append(blocks, m.Content...)
			}
			var got []string
			for _, b := range blocks {
				if b["cache_control"] != nil {
					for _, key := range []string{"name", "text", "type"} {
						if s, ok := rawjson.String(b[key]); ok {
							got = append(got, s)
							break
						}
					}
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("marks on %q, want %q", s, tt.want)
			}
		})
	}
}

// TestEachRequestBeginsAsTheOneBefore, byte for byte up to the end of its messages, the marks left aside.
func TestEachRequestBeginsAsTheOneBefore(t *testing.T) {
	m := New(Config{NoCache: true})
	var before []byte
	for i, req := range conversationOf60() {
		now := encoded(t, m, req)
		if !bytes.HasPrefix(now, before) {
			t.Fatalf("request %d does not begin as the one before:\n%s\n%s", i, before, now)
		}
		end := strings.LastIndex(string(now), `]}],"max_tokens":`)
		if end < 0 {
			t.Fatalf("request %d has no end of messages: %s", i, now)
		}
		before = now[:end]
	}
}
