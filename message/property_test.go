package message

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var (
	genText = rapid.String()
	genSome = rapid.StringN(1, 12, -1)
	genRaw  = rapid.SampledFrom([]json.RawMessage{[]byte("null"), []byte(`"a\u003c<"`), []byte(`[1,  2]`),
		[]byte(`{"a":  1.50}`), []byte(`true`)})
	genArgs   = rapid.SampledFrom([]json.RawMessage{[]byte("{}"), []byte(`{"a":  1}`), []byte("{\"b\" :\n\"<ü>\"}")})
	genExtras = rapid.Custom(func(t *rapid.T) Fields {
		f := rapid.MapOfN(rapid.Map(genText, func(s string) string { return "x_" + s }), genRaw, 0, 3).Draw(t, "fields")
		if len(f) == 0 {
			return nil
		}
		return f
	})
)

var genPart = rapid.Custom(func(t *rapid.T) Part {
	p := Part{Extra: genExtras.Draw(t, "extra")}
	switch rapid.IntRange(0, 4).Draw(t, "type") {
	case 0:
		p.Type, p.Text = PartText, genText.Draw(t, "text")
	case 1:
		p.Type, p.URL, p.Detail = PartImage, genSome.Draw(t, "url"), genText.Draw(t, "detail")
	case 2:
		p.Type, p.Text, p.Signature = PartReasoning, genText.Draw(t, "thinking"), genText.Draw(t, "signature")
	case 3:
		p.Type, p.Redacted = PartReasoning, genSome.Draw(t, "redacted")
	case 4:
		return Part{Type: PartRaw, Raw: json.RawMessage(`{ "type":"file" }`)}
	}
	return p
})

var genUsage = rapid.Custom(func(t *rapid.T) *Usage {
	if rapid.Bool().Draw(t, "none") {
		return nil
	}
	n := rapid.IntRange(0, 1<<40)
	return &Usage{n.Draw(t, "in"), n.Draw(t, "out"), n.Draw(t, "total"), n.Draw(t, "read"), n.Draw(t, "created"),
		n.Draw(t, "reasoning")}
})

// genMessage makes messages in the form that decoding gives them.
var genMessage = rapid.Custom(func(t *rapid.T) Message {
	m := Message{
		ID: genText.Draw(t, "id"), Name: genText.Draw(t, "name"),
		Role:   rapid.SampledFrom([]Role{System, Human, AI, Tool, Remove}).Draw(t, "role"),
		Kwargs: genExtras.Draw(t, "kwargs"), ResponseMetadata: genExtras.Draw(t, "metadata"),
		Extra: genExtras.Draw(t, "extra"),
	}
	if parts := rapid.SliceOfN(genPart, 0, 4).Draw(t, "parts"); len(parts) > 0 {
		m.Content = parts
	}
	switch m.Role {
	case AI:
		for range rapid.IntRange(0, 2).Draw(t, "calls") {
			m.ToolCalls = append(m.ToolCalls, ToolCall{genText.Draw(t, "call id"), genText.Draw(t, "tool"),
				genArgs.Draw(t, "args"), genExtras.Draw(t, "call extra")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "invalid calls") {
			m.InvalidToolCalls = append(m.InvalidToolCalls, InvalidToolCall{genText.Draw(t, "call id"),
				genText.Draw(t, "tool"), genText.Draw(t, "args"), genText.Draw(t, "error"),
				genExtras.Draw(t, "call extra")})
		}
		m.Usage = genUsage.Draw(t, "usage")
	case Tool:
		m.ToolCallID, m.Status = genText.Draw(t, "call"), rapid.SampledFrom([]string{StatusSuccess, StatusError}).
			Draw(t, "status")
		if rapid.Bool().Draw(t, "has artifact") {
			m.Artifact = json.RawMessage(`{"a":  [ ]}`)
		}
	}
	shown := m.Content
	if m.plainReasoning() {
		shown = shown[1:]
	}
	m.List = needsList(shown) || rapid.Bool().Draw(t, "list")
	if !m.List && len(shown) == 1 && shown[0].Text == "" { // a string has no way to say so
		m.List = true
	}
	return m
})

func TestEveryMessageSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genMessage.Draw(t, "message")
		b, err := m.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got, compacted Message
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if d := cmp.Diff(m, got); d != "" {
			t.Fatalf("%s\n(-want +got)\n%s", b, d)
		}
		marshalled, err := json.Marshal(m) // compacts; must still be readable
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(marshalled, &compacted); err != nil || compacted.Text() != m.Text() {
			t.Fatalf("%s: %v", marshalled, err)
		}
	})
}

// TestBuilderJoins cuts a message into chunks at random and expects the same message whatever the cuts.
func TestBuilderJoins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, reasoning := genText.Draw(t, "text"), genText.Draw(t, "reasoning")
		args := []string{`{"a":  "größe"}`, `{"b":[1,2]}`}
		var b Builder
		for _, s := range cut(t, reasoning) {
			b.Add(Chunk{Reasoning: s})
		}
		for _, s := range cut(t, text) {
			b.Add(Chunk{Text: s})
			b.Message() // a look on the way changes nothing
		}
		pieces := [2][]string{cut(t, args[0]), cut(t, args[1])}
		for len(pieces[0])+len(pieces[1]) > 0 {
			i := rapid.IntRange(0, 1).Draw(t, "whose turn")
			if len(pieces[i]) == 0 {
				i = 1 - i
			}
			b.Add(Chunk{ToolCalls: []ToolCallChunk{{Index: i * 1_000_000, Name: "t", Args: pieces[i][0]}}})
			pieces[i] = pieces[i][1:]
		}
		m := b.Message()
		if m.Text() != text || m.Reasoning() != reasoning || len(m.InvalidToolCalls) > 0 || len(m.ToolCalls) != 2 {
			t.Fatalf("%+v", m)
		}
		if got := string(m.ToolCalls[0].Args) + string(m.ToolCalls[1].Args); got != args[0]+args[1] && got != args[1]+
			args[0] {
			t.Fatalf("arguments %s", got)
		}
		raw, err := m.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		var again Message
		if err := again.UnmarshalJSON(raw); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m, again); d != "" {
			t.Fatal(d)
		}
	})
}

// cut splits s between runes.
func cut(t *rapid.T, s string) []string {
	var out []string
	var sb strings.Builder
	for _, r := range s {
		sb.WriteRune(r)
		if rapid.Bool().Draw(t, "cut") {
			out = append(out, sb.String())
			sb.Reset()
		}
	}
	return append(out, sb.String())
}

var genChunk = rapid.Custom(func(t *rapid.T) Chunk {
	var c Chunk
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0, 1:
		c.Text = genSome.Draw(t, "text")
	case 2:
		c.Reasoning = genSome.Draw(t, "reasoning")
	case 3, 4:
		c.ToolCalls = []ToolCallChunk{{Index: rapid.IntRange(0, 2).Draw(t, "index"), Args: genText.Draw(t, "args")}}
		if rapid.Bool().Draw(t, "first") {
			c.ToolCalls[0].ID, c.ToolCalls[0].Name = genText.Draw(t, "id"), genText.Draw(t, "name")
		}
	case 5:
		c.Usage, c.FinishReason = genUsage.Draw(t, "usage"), rapid.SampledFrom([]string{"", "stop"}).Draw(t, "finish")
	case 6:
		c.Signature, c.Redacted = rapid.SampledFrom([]string{"", "s"}).Draw(t, "signature"),
			rapid.SampledFrom([]string{"", "r"}).Draw(t, "redacted")
	case 7:
		c.Metadata, c.Kwargs = genExtras.Draw(t, "metadata"), genExtras.Draw(t, "kwargs")
	}
	return c
})

// TestJoinedChunksMakeTheSameMessage: whatever Join joins, the message is that of the single chunks.
func TestJoinedChunksMakeTheSameMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var single, joined Builder
		var next Chunk
		for _, c := range rapid.SliceOf(genChunk).Draw(t, "chunks") {
			single.Add(c)
			c.ToolCalls = append([]ToolCallChunk(nil), c.ToolCalls...)
			if !next.Join(c) {
				joined.Add(next)
				next = c
			}
		}
		joined.Add(next)
		if d := cmp.Diff(single.Message(), joined.Message()); d != "" {
			t.Fatalf("joined (-single +joined)\n%s", d)
		}
	})
}

func TestJoinIsBounded(t *testing.T) {
	c := Chunk{Text: strings.Repeat("a", maxJoined)}
	if c.Join(Chunk{Text: "b"}) {
		t.Errorf("joined to %d bytes", len(c.Text))
	}
}
