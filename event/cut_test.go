package event

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestCutsAreSmallWhereTheMessageHoldsThePieces(t *testing.T) {
	whole := Chunk{Reasoning: "hm.", Text: "I look.", ToolCalls: []ToolCallChunk{
		{ID: "c1", Name: "ls", Args: `{"a":1}`}, {ID: "c2", Name: "cat", Args: `{}`},
	}}
	pieces := []Chunk{
		{Reasoning: "hm."}, {Text: "I "}, {Text: "look."},
		{ToolCalls: []ToolCallChunk{{Index: 3, ID: "c1", Name: "ls"}}},
		{ToolCalls: []ToolCallChunk{{Index: 3, Args: `{"a"`}, {Index: 5, ID: "c2", Name: "cat", Args: "{"}}},
		{ToolCalls: []ToolCallChunk{{Index: 5, Args: "}"}, {Index: 3, Args: ":1}"}}},
	}
	cuts := Cuts(whole, pieces)
	want := []Cut{{Reasoning: 3}, {Text: 2}, {Text: 5}, {Args: []int{3, 0}}, {Args: []int{3, 4, 5, 1}},
		{Args: []int{5, 1, 3, 3}}}
	if d := cmp.Diff(want, cuts); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for i := range pieces {
		pieces[i].MessageID = "m"
	}
	if d := cmp.Diff(pieces, Message{MessageID: "m", Chunks: cuts}.Split(whole)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestAPieceThatTheMessageDoesNotHoldStandsInItsCut(t *testing.T) {
	late := Chunk{ToolCalls: []ToolCallChunk{{Index: 0, Name: "ls", Args: "{}"}}}
	cuts := Cuts(Chunk{ToolCalls: []ToolCallChunk{{ID: "c1", Name: "ls", Args: "{}"}}},
		[]Chunk{{ToolCalls: []ToolCallChunk{{Index: 0, ID: "c1"}}}, late})
	if len(cuts) != 2 || cuts[1].Piece == nil || !cmp.Equal(*cuts[1].Piece, late) {
		t.Errorf("got %+v", cuts)
	}
}

func TestNumbers(t *testing.T) {
	m := Message{First: 5, Chunks: []Cut{{Text: 1}, {Text: 1}, {Text: 1, Skip: 2}, {Text: 1}}}
	if got := m.Numbers(); !slices.Equal(got, []int64{5, 6, 9, 10}) {
		t.Errorf("got %v", got)
	}
}

// TestSplitUndoesCuts holds for a message made of the pieces, for one that was changed, and for one that has nothing to
// do with them, also when the boundaries went through the log.
func TestSplitUndoesCuts(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "a", "b", "ab", "{", `"`, "é", "🦌", " "})
	call := rapid.Custom(func(t *rapid.T) ToolCallChunk {
		return ToolCallChunk{
			Index: rapid.IntRange(-1, 2).Draw(t, "index"), ID: text.Draw(t, "id"), Name: text.Draw(t, "name"),
			Args: text.Draw(t, "args"),
		}
	})
	chunk := rapid.Custom(func(t *rapid.T) Chunk {
		return Chunk{
			MessageID: "m", Text: text.Draw(t, "text"), Reasoning: text.Draw(t, "reasoning"),
			ToolCalls: rapid.SliceOfN(call, 0, 3).Draw(t, "calls"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(chunk, 0, 12).Draw(t, "pieces")
		whole := join(pieces)
		switch rapid.IntRange(0, 3).Draw(t, "what became of it") {
		case 0:
			whole = chunk.Draw(t, "whole")
		case 1:
			whole.ToolCalls = nil
		case 2:
			whole.Text = "x" + whole.Text
		}
		raw, err := Event{Data: Message{MessageID: "m", First: 1, Chunks: Cuts(whole, pieces)}}.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		var back Event
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(pieces, back.Data.(Message).Split(whole), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s (-want +got)\n%s", raw, d)
		}
	})
}

// join folds pieces into a message.
func join(pieces []Chunk) (whole Chunk) {
	at := make(map[int]int)
	for _, p := range pieces {
		whole.Text, whole.Reasoning = whole.Text+p.Text, whole.Reasoning+p.Reasoning
		for _, tc := range p.ToolCalls {
			i, ok := at[tc.Index]
			if !ok {
				i = len(whole.ToolCalls)
				at[tc.Index] = i
				whole.ToolCalls = append(whole.ToolCalls, ToolCallChunk{})
			}
			c := &whole.ToolCalls[i]
			c.ID, c.Name, c.Args = c.ID+tc.ID, c.Name+tc.Name, c.Args+tc.Args
		}
	}
	return whole
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(`[{"t":2,"r":9,"a":[0,1,1]},{"t":-1,"a":[0,-5]},{"p":{"text":"x","tool_calls":[{"index":0,"args":"{"}]}},{}]`), "text", "{}")
	f.Fuzz(func(t *testing.T, cuts []byte, text, args string) {
		m := Message{MessageID: "m", First: 1}
		if json.Unmarshal(cuts, &m.Chunks) != nil {
			return
		}
		whole := Chunk{Text: text, Reasoning: strconv.Quote(text),
			ToolCalls: []ToolCallChunk{{ID: "c", Name: "n", Args: args}}}
		if n := len(m.Split(whole)); n != len(m.Chunks) || len(m.Numbers()) != n {
			t.Errorf("%d pieces of %d", n, len(m.Chunks))
		}
	})
}
