package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// TestReasoningGoesBackOverThreeTurns is the story of a model that thinks between its calls: each request repeats all
// that it thought, said and did, in the order in which it came.
func TestReasoningGoesBackOverThreeTurns(t *testing.T) {
	m := New(Config{Model: "m"})
	thought := func(id, text, secret string) string {
		return `{"type":"reasoning","id":"` + id + `","summary":[{"type":"summary_text","text":"` + text +
			`"}],"encrypted_content":"` + secret + `"}`
	}
	call := func(id string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"ls","arguments":"{\"p\": 1}"}`
	}
	result := func(id string) string { return `{"type":"function_call_output","call_id":"` + id + `","output":"r"}` }
	two := `{"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"**A**\n\na"},{"type":"summary_text","text":"b"}],"encrypted_content":"two=="}`
	said := `{"type":"message","role":"assistant","content":"I look.","phase":"commentary"}`
	turns := []struct{ events, want []string }{
		// Two thoughts with a call each, in one answer.
		{[]string{itemDone("0", thought("rs_1", "one", "one==")), itemDone("1", call("call_1")), itemDone("2", two),
			itemDone("3", call("call_2"))},
			[]string{thought("rs_1", "one", "one=="), call("call_1"), two, call("call_2"), result("call_1"),
				result("call_2")}},
		// A thought without a summary, words, and a call.
		{[]string{itemDone("0", `{"type":"reasoning","id":"rs_3","summary":[],"encrypted_content":"three=="}`),
			itemDone("1", `{"id":"msg_1","type":"message","role":"assistant","phase":"commentary","status":"completed","content":[{"type":"output_text","annotations":[],"text":"I look."}]}`),
			itemDone("2", call("call_3"))},
			[]string{`{"type":"reasoning","id":"rs_3","summary":[],"encrypted_content":"three=="}`, said,
				call("call_3"), result("call_3")}},
		// Two thoughts in a row, then the answer.
		{[]string{itemDone("0", thought("rs_4", "four", "four==")), itemDone("1", thought("rs_5", "five", "five==")),
			itemDone("2",
				`{"id":"msg_2","type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}`)},
			[]string{thought("rs_4", "four", "four=="), thought("rs_5", "five", "five=="),
				`{"type":"message","role":"assistant","content":"Done."}`}},
	}
	req := &model.Request{System: "s", Tools: []model.Tool{{Name: "ls"}},
		Messages: []message.Message{message.New(message.Human, "hi")}}
	want := []string{`{"type":"message","role":"user","content":"hi"}`}
	last := m.encode(req)
	for i, turn := range turns {
		answer := hear(t, append(turn.events, completed)...)
		req.Messages = append(req.Messages, answer)
		for _, c := range answer.ToolCalls {
			req.Messages = append(req.Messages, message.Message{Role: message.Tool, ToolCallID: c.ID,
				Content: []message.Part{message.Text("r")}})
		}
		want = append(want, turn.want...)
		next := m.encode(req)
		if d := cmp.Diff(strings.Join(want, "\n")+"\n", joined(inputOf(t, string(next)))); d != "" {
			t.Errorf("turn %d (-want +got)\n%s", i+1, d)
		}
		if !bytes.HasPrefix(next, bytes.TrimSuffix(last, []byte("]}"))) {
			t.Errorf("turn %d does not begin with the request before", i+1)
		}
		last = next
	}
}

// TestEveryAnswerComesBackAsItsItems takes any answer, however its texts are cut into events, through the builder and
// the store, and wants the items of the answer in the next request.
func TestEveryAnswerComesBackAsItsItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answer := rapid.SliceOfN(rapid.Custom(drawItem), 1, 6).Draw(t, "answer")
		var events []string
		var want []string
		for i := range answer {
			it := &answer[i]
			it.CallID, it.ID = fmt.Sprint("call_", i), fmt.Sprint("id_", i)
			events = append(events, eventsOf(t, i, it)...)
			want = append(want, sentBack(it)...)
		}
		for len(want) > 0 && strings.HasPrefix(want[len(want)-1], `{"type":"reasoning"`) {
			want = want[:len(want)-1]
		}
		chunks, err := play(append(events, completedWith(t, answer))...)
		if err != nil {
			t.Fatal(err)
		}
		got := stored(t, fold(chunks))
		sent := inputOf(t, body(Config{}, &model.Request{Messages: []message.Message{got}}))
		if d := cmp.Diff(strings.Join(append(want, ""), "\n"), joined(sent)); d != "" {
			t.Errorf("(-want +got)\n%s\nthe message was %+v\nthe layout %s", d, got, got.Kwargs[keyItems])
		}
	})
}

func drawItem(t *rapid.T) output {
	words := func(name string, least int) []segment {
		var out []segment
		for _, s := range rapid.SliceOfN(rapid.StringN(1, 12, -1), least, 3).Draw(t, name) {
			out = append(out, segment{Text: strings.ToValidUTF8(s, "x")})
		}
		return out
	}
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return output{Type: typeReasoning, Summary: words("summary", 0), Encrypted: rapid.StringN(1, 9, -1).
			Draw(t, "secret")}
	case 1:
		return output{Type: typeReasoning, Content: words("open", 1)}
	case 2:
		return output{Type: typeReasoning, Summary: words("lost summary", 0)}
	case 3:
		o := output{Type: typeMessage, Phase: rapid.SampledFrom([]string{"", "commentary", "final_answer"}).
			Draw(t, "phase"), Content: words("text", 1)}
		if rapid.Bool().Draw(t, "refused") {
			o.Content[0] = segment{Type: "refusal", Refusal: o.Content[0].Text}
		}
		return o
	}
	return output{Type: typeCall, Name: "f", Arguments: rapid.SampledFrom([]string{`{}`, `{"b": 1e2,  "a":"\u00e4"}`}).
		Draw(t, "args")}
}

// encoded is a value as JSON.
func encoded(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// wireItem is an item as the API sends it: with the fields of its type.
func wireItem(o *output) string {
	if o.Type != typeCall {
		return encoded(o)
	}
	return encoded(map[string]string{"type": o.Type, "id": o.ID, "call_id": o.CallID, "name": o.Name,
		"arguments": o.Arguments, "status": "completed"})
}

// eventsOf tells an item in deltas and at its end, or only at its end, or leaves it to the end of the answer.
func eventsOf(t *rapid.T, index int, it *output) (events []string) {
	at := fmt.Sprintf(`"output_index":%d`, index)
	pieces := func(typ, place string, texts []segment) {
		for i, s := range texts {
			rest := []rune(s.Text + s.Refusal)
			typ := typ
			if s.Refusal != "" {
				typ = "response.refusal.delta"
			}
			for len(rest) > 0 {
				n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
				events = append(events, fmt.Sprintf(`{"type":%q,%s,%q:%d,"delta":%s}`, typ, at, place, i,
					encoded(string(rest[:n]))))
				rest = rest[n:]
			}
		}
	}
	if rapid.Bool().Draw(t, "deltas") {
		begun := output{Type: it.Type, ID: it.ID, CallID: it.CallID, Name: it.Name}
		events = append(events, `{"type":"response.output_item.added",`+at+`,"item":`+encoded(begun)+`}`)
		switch it.Type {
		case typeReasoning:
			pieces("response.reasoning_summary_text.delta", "summary_index", it.Summary)
			pieces("response.reasoning_text.delta", "content_index", it.Content)
		case typeMessage:
			pieces("response.output_text.delta", "content_index", it.Content)
		case typeCall:
			pieces("response.function_call_arguments.delta", "x", []segment{{Text: it.Arguments}})
		}
	}
	return append(events, itemDone(fmt.Sprint(index), wireItem(it)))
}

func completedWith(t *rapid.T, answer []output) string {
	if rapid.Bool().Draw(t, "no output at the end") {
		return completed
	}
	var items []string
	for i := range answer {
		items = append(items, wireItem(&answer[i]))
	}
	return strings.Replace(completed, `"output":[]`, `"output":[`+strings.Join(items, ",")+`]`, 1)
}

// sentBack is the item that the next request has for one of the answer; none for reasoning that nobody could read.
func sentBack(it *output) []string {
	str := func(s string) string { return string(rawjson.AppendString(nil, s)) }
	list := func(typ string, texts []segment) string {
		var out []string
		for _, s := range texts {
			if s.Refusal != "" {
				out = append(out, `{"type":"refusal","refusal":`+str(s.Refusal)+`}`)
			} else {
				out = append(out, `{"type":"`+typ+`","text":`+str(s.Text)+`}`)
			}
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	switch it.Type {
	case typeReasoning:
		if it.Encrypted == "" && len(it.Content) == 0 {
			return nil
		}
		out := `{"type":"reasoning","id":` + str(it.ID) + `,"summary":` + list("summary_text", it.Summary)
		if len(it.Content) > 0 {
			out += `,"content":` + list("reasoning_text", it.Content)
		}
		if it.Encrypted != "" {
			out += `,"encrypted_content":` + str(it.Encrypted)
		}
		return []string{out + "}"}
	case typeMessage:
		content := list("output_text", it.Content)
		if len(it.Content) == 1 && it.Content[0].Refusal == "" {
			content = str(it.Content[0].Text)
		}
		out := `{"type":"message","role":"assistant","content":` + content
		if it.Phase != "" {
			out += `,"phase":` + str(it.Phase)
		}
		return []string{out + "}"}
	}
	return []string{`{"type":"function_call","call_id":` + str(it.CallID) + `,"name":"f","arguments":` +
		str(it.Arguments) + `}`}
}

// TestPreviousRequestIsAPrefix is what provider caches live on, for conversations with everything in them.
func TestPreviousRequestIsAPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(Config{Model: "m", ExtraBody: map[string]json.RawMessage{"z": raw(`1`), "k": raw(`{"a": 2}`)}})
		req := &model.Request{System: "s", Tools: []model.Tool{{Name: "f"}}}
		var last []byte
		for range rapid.IntRange(1, 6).Draw(t, "turns") {
			answer := rapid.SliceOfN(rapid.Custom(drawItem), 0, 4).Draw(t, "answer")
			var events []string
			for i := range answer {
				answer[i].CallID, answer[i].ID = fmt.Sprint("c", len(req.Messages), i), fmt.Sprint("id", i)
				events = append(events, eventsOf(t, i, &answer[i])...)
			}
			chunks, err := play(append(events, completed)...)
			if err != nil {
				t.Fatal(err)
			}
			req.Messages = append(slices.Clip(req.Messages),
				message.New(message.Human, rapid.String().Draw(t, "question")), fold(chunks))
			req.Settings.NoTools = rapid.Bool().Draw(t, "no tools") // as a run's last request at a limit
			next := m.encode(req)
			if !json.Valid(next) || !bytes.HasPrefix(next, last) {
				t.Fatalf("no prefix, or no JSON:\n%s\n%s", last, next)
			}
			last = bytes.TrimSuffix(bytes.TrimSuffix(bytes.TrimSuffix(next, []byte("}")),
				[]byte(`,"tool_choice":"none"`)), []byte("]"))
			req.Messages[len(req.Messages)-1] = stored(t, req.Messages[len(req.Messages)-1])
		}
	})
}

// TestChangedAnswersStillGoBack is about answers that something in between has changed.
func TestChangedAnswersStillGoBack(t *testing.T) {
	answer := hear(t, itemDone("0",
		`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"e=="}`),
		itemDone("1", `{"type":"message","content":[{"type":"output_text","text":"a"}]}`),
		itemDone("2", `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"f=="}`),
		itemDone("3", `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`), completed)
	first := `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"e=="}`
	call := `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	said := `{"type":"message","role":"assistant","content":"a"}`
	nameless := `{"type":"reasoning","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"e=="}`
	tests := []struct {
		name   string
		change func(m *message.Message)
		want   []string
	}{
		{"as it was", func(*message.Message) {},
			[]string{first, said, `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"f=="}`, call}},
		{"without its call", func(m *message.Message) { *m = m.WithoutCalls() }, []string{first, said}},
		{"with one more call", func(m *message.Message) {
			m.ToolCalls = append(m.ToolCalls, message.ToolCall{ID: "c2", Name: "g"})
		}, []string{first, said, `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"f=="}`, call,
			`{"type":"function_call","call_id":"c2","name":"g","arguments":"{}"}`}},
		{"with more text", func(m *message.Message) { m.Content = append(m.Content, message.Text("b")) },
			[]string{nameless, `{"type":"reasoning","summary":[],"encrypted_content":"f=="}`,
				`{"type":"message","role":"assistant","content":"ab"}`, call}},
		{"with more reasoning", func(m *message.Message) { m.Content[0].Text = "why not" },
			[]string{strings.Replace(nameless, "why", "why not", 1),
				`{"type":"reasoning","summary":[],"encrypted_content":"f=="}`, said, call}},
		{"without a proof", func(m *message.Message) { m.Content[0].Signature = "" },
			[]string{`{"type":"reasoning","summary":[],"encrypted_content":"f=="}`, said, call}},
		{"without its reasoning", func(m *message.Message) { m.Content = []message.Part{message.Text("a")} },
			[]string{said, call}},
		{"from another provider", func(m *message.Message) { m.ResponseMetadata["model_provider"] = raw(`"azure"`) },
			[]string{said, call}},
		{"with a layout that is none",
			func(m *message.Message) { m.Kwargs[keyItems] = raw(`[{"type":"message","content":[-1]},7]`) },
			[]string{nameless, `{"type":"reasoning","summary":[],"encrypted_content":"f=="}`, said, call}},
		{"cut off after the reasoning", func(m *message.Message) {
			m.Content, m.ToolCalls, m.Kwargs = m.Content[:1], nil, nil
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := stored(t, answer)
			tt.change(&m)
			got := inputOf(t, body(Config{}, &model.Request{Messages: []message.Message{m}}))
			if d := cmp.Diff(strings.Join(append(tt.want, ""), "\n"), joined(got)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestOtherItemsGoBack is about items that this package knows nothing of, and further fields of a call.
func TestOtherItemsGoBack(t *testing.T) {
	search := `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}}`
	call := `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"f","arguments":"{}","caller":null,"namespace":"n"}`
	m := hear(t, itemDone("0", search), itemDone("1", call), completed)
	got := joined(inputOf(t, body(Config{}, &model.Request{Messages: []message.Message{m}})))
	want := search + "\n" + `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}","namespace":"n"}` + "\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestHugeItemsStayBehind bounds what an answer keeps of items that it does not know.
func TestHugeItemsStayBehind(t *testing.T) {
	m := hear(t, itemDone("0", `{"id":"ig_1","type":"image_generation_call","result":"`+strings.Repeat("A", maxOther)+
		`"}`),
		itemDone("1", `{"type":"message","phase":"final_answer","content":[{"type":"output_text","text":"a"}]}`),
		completed)
	if n := len(m.Kwargs[keyItems]); n == 0 || n > 200 || m.Text() != "a" {
		t.Errorf("a layout of %d bytes, text %q", n, m.Text())
	}
}

// TestLayoutSaysNothingTwice keeps the layout small: a plain answer has none, and texts are never in it.
func TestLayoutSaysNothingTwice(t *testing.T) {
	words := hear(t, itemDone("0", `{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"hello"}]}`),
		itemDone("1", `{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`), completed)
	if got := words.Kwargs[keyItems]; got != nil {
		t.Errorf("a plain answer has the layout %s", got)
	}
	thought := hear(t, itemDone("0",
		`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hello"}],"encrypted_content":"e=="}`),
		itemDone("1", `{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"hello"}]}`), completed)
	if got, want := string(thought.Kwargs[keyItems]),
		`[{"type":"reasoning","id":"rs_1","summary":[5],"encrypted":true},{"type":"message","content":[5]}]`; got != want {
		t.Errorf("layout %s, want %s", got, want)
	}
	if len(thought.Content) != 2 || thought.Content[0].Text != "hello" || thought.Content[0].Signature != "e==" {
		t.Errorf("parts %+v", thought.Content)
	}
}
