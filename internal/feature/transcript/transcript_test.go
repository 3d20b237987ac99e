package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/pudu-ai/pudu/internal/feature/transcript"
	"github.com/pudu-ai/pudu/message"
)

var (
	at    = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	about = transcript.About{ID: "t-1", Title: "Deer <b> & 鹿", Created: at, Changed: at.Add(time.Hour),
		Written: at.Add(2 * time.Hour)}
)

func stream(msgs ...message.Message) iter.Seq2[transcript.Message, error] {
	return func(yield func(transcript.Message, error) bool) {
		for i, m := range msgs {
			raw, err := json.Marshal(m)
			if !yield(transcript.Message{Raw: raw, RunID: "r", At: at.Add(time.Duration(i) * time.Second)}, err) {
				return
			}
		}
	}
}

func written(t *testing.T, f transcript.Format, msgs ...message.Message) string {
	t.Helper()
	var out bytes.Buffer
	if err := transcript.Write(&out, f, about, stream(msgs...)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// talk has all that a transcript shows.
func talk() []message.Message {
	ask := message.New(message.Human, "<uploaded_files>…</uploaded_files>")
	ask.Kwargs = message.Fields{
		"original_user_content": json.RawMessage(`"数一数鹿。\nAnd *not* Markdown."`),
		"files":                 json.RawMessage(`[{"filename":"a.csv","path":"/mnt/user-data/uploads/a.csv"},{"filename":"b` + "`" + `.txt"},7]`),
	}
	ask.Content = append(ask.Content, message.Part{Type: message.PartImage, URL: "data:image/png;base64,AAAA"})
	first := message.Message{Role: message.AI,
		Content: []message.Part{{Type: message.PartReasoning, Text: "First ``` I count."}, message.Text("I look.")}}
	first.ToolCalls = []message.ToolCall{
		{ID: "1", Name: "bash", Args: json.RawMessage(`{"command":"wc -l"}`)},
		{ID: "2", Name: "ls", Args: json.RawMessage(`{}`)},
		{ID: "3", Name: "present_files", Args: json.RawMessage(`{"filepaths":["/mnt/user-data/outputs/鹿.md"]}`)},
	}
	result := func(id, text string) message.Message {
		m := message.New(message.Tool, text)
		m.ToolCallID, m.Name = id, "x"
		return m
	}
	failed := result("1", "```\n</details>")
	failed.Status = message.StatusError
	return []message.Message{
		ask, first, failed, result("3", strings.Repeat("鹿", 6000)),
		message.New(message.AI, "There are **three**:\n\n| deer | n |\n|---|---|\n| pudu | 3 |"),
	}
}

func TestMarkdown(t *testing.T) {
	got := written(t, transcript.Markdown, talk()...)
	for _, want := range []string{
		"# Deer \\<b\\> \\& 鹿\n\n- Thread: `t-1`\n- Created: 2026-03-14 15:09:26 UTC\n- Last changed: 2026-03-14 16:09:26 UTC\n",
		"\n## Person · 2026-03-14 15:09:26 UTC\n\n数一数鹿。\nAnd *not* Markdown.\n\nFiles:\n\n- `/mnt/user-data/uploads/a.csv`\n- `` b`.txt ``\n\n*1 picture*\n",
		"\n## Agent · 2026-03-14 15:09:27 UTC\n\n<details><summary>Reasoning</summary>\n\n````text\nFirst ``` I count.\n````\n\n</details>\n\nI look.\n",
		"\n<details><summary>Call: bash (failed)</summary>\n\n```json\n{\"command\":\"wc -l\"}\n```\n\n````text\n```\n</details>\n````\n\n</details>\n",
		"鹿\n[1617 more bytes are left out]\n```\n\n</details>\n\nFiles:\n\n- `/mnt/user-data/outputs/鹿.md`\n",
		"\n<details><summary>Call: ls (without a result)</summary>\n",
		"\nThere are **three**:\n\n| deer | n |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%.3000s", want, got)
		}
	}
}

// TestMarkdownIsContained: a message that opens a block does not take in what comes behind it.
func TestMarkdownIsContained(t *testing.T) {
	for _, text := range []string{
		"```\nopen", "~~~~ x\n```", "<!-- open", "<pre>\nopen", "<script>", "<![CDATA[", "- a\n\n      ```\n      open",
		"> ```\n> open", "````\n```", "a\n```go\nx\n```\n", "[x]: <y", "\n\n\n", strings.Repeat("[a](", 20_000),
	} {
		got := written(t, transcript.Markdown, message.New(message.AI, text), message.New(message.Human, "behind"))
		if n := headings(t, got); n != 3 { // the title, and one for each message
			t.Errorf("%.40q: %d headings in\n%.500s", text, n, got)
		}
	}
	if got := written(t, transcript.Markdown, message.New(message.AI, "a\n\n```go\nx\n```")); !strings.Contains(got,
		"\na\n\n```go\nx\n```\n") {
		t.Errorf("a closed block was changed:\n%s", got)
	}
}

func TestHTML(t *testing.T) {
	got := written(t, transcript.HTML, talk()...)
	doc := parsed(t, got)
	checkHarmless(t, doc)
	if title := text(find(doc, "title")[0]); title != about.Title {
		t.Errorf("title %q", title)
	}
	var shown []string
	for _, n := range find(doc, "article", "details") {
		shown = append(shown, strings.Join(strings.Fields(text(n)), " "))
	}
	want := []string{
		"Person 2026-03-14 15:09:26 UTC 数一数鹿。 And *not* Markdown. /mnt/user-data/uploads/a.csv b`.txt 1 picture",
		"Agent 2026-03-14 15:09:27 UTC Reasoning First ``` I count. I look.", "Reasoning First ``` I count.",
		"Call: bash (failed) {\"command\":\"wc -l\"} ``` </details>",
		"Call: present_files {\"filepaths\":[\"/mnt/user-data/outputs/鹿.md\"]} " + strings.Repeat("鹿", 5461) +
			" [1617 more bytes are left out]",
		"Call: ls (without a result) {}",
		"Agent 2026-03-14 15:09:30 UTC There are three : deer n pudu 3",
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
	if files := find(doc, "li"); len(files) != 3 || text(files[2]) != "/mnt/user-data/outputs/鹿.md" ||
		len(find(doc, "td")) != 2 {
		t.Errorf("%d files, %d cells", len(files), len(find(doc, "td")))
	}
}

func TestJSON(t *testing.T) {
	msgs := talk()
	var got struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Thread  struct {
			ID      string    `json:"thread_id"`
			Title   string    `json:"title"`
			Created time.Time `json:"created_at"`
		} `json:"thread"`
		Messages []struct {
			Run     string          `json:"run_id"`
			At      time.Time       `json:"created_at"`
			Message json.RawMessage `json:"message"`
		} `json:"messages"`
	}
	if err := json.Unmarshal([]byte(written(t, transcript.JSON, msgs...)), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != "pudu.transcript" || got.Version != 1 || got.Thread.ID != "t-1" ||
		got.Thread.Title != about.Title || !got.Thread.Created.Equal(at) {
		t.Errorf("%+v", got)
	}
	for i, m := range got.Messages {
		want, err := json.Marshal(msgs[i])
		if err != nil || string(want) != string(m.Message) || m.Run != "r" ||
			!m.At.Equal(at.Add(time.Duration(i)*time.Second)) {
			t.Errorf("message %d is of %s, %v: %s, not %s", i, m.Run, m.At, m.Message, want)
		}
	}
	if len(got.Messages) != len(msgs) {
		t.Errorf("%d messages", len(got.Messages))
	}
}

func TestWithoutMessages(t *testing.T) {
	for _, f := range []transcript.Format{transcript.Markdown, transcript.JSON, transcript.HTML} {
		got := written(t, f)
		if !strings.Contains(got, "t-1") || f == transcript.JSON && !json.Valid([]byte(got)) {
			t.Errorf("%s: %s", f, got)
		}
	}
	untitled := about
	untitled.Title = " \n"
	var out bytes.Buffer
	if err := transcript.Write(&out, transcript.Markdown, untitled, stream()); err != nil ||
		!strings.HasPrefix(out.String(), "# Thread t-1\n") {
		t.Errorf("%v %s", err, &out)
	}
}

// TestErrors: nothing is written before the first message is there, and an error of either side ends it.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, f := range transcript.Formats() {
		f, err := transcript.Parse(f)
		if err != nil || f.Media() == "" {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = transcript.Write(&out, f, about,
			func(yield func(transcript.Message, error) bool) { yield(transcript.Message{}, broken) })
		if !errors.Is(err, broken) || out.Len() > 0 {
			t.Errorf("%s: %v, %s", f, err, &out)
		}
		many := slices.Repeat([]message.Message{message.New(message.AI, strings.Repeat("x", 10_000))}, 1000)
		asked := 0
		err = transcript.Write(full{broken}, f, about, func(yield func(transcript.Message, error) bool) {
			stream(many...)(func(m transcript.Message, err error) bool { asked++; return yield(m, err) })
		})
		if !errors.Is(err, broken) || asked > 10 {
			t.Errorf("%s: %v after %d messages", f, err, asked)
		}
	}
	if _, err := transcript.Parse("pdf"); err == nil || !strings.Contains(err.Error(), "md, json, html") {
		t.Error(err)
	}
	var out bytes.Buffer
	err := transcript.Write(&out, transcript.HTML, about, func(yield func(transcript.Message, error) bool) {
		yield(transcript.Message{Raw: json.RawMessage(`{"type":7}`)}, nil)
	})
	if err == nil {
		t.Error("a message that is none was taken")
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func parsed(t *testing.T, page string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// find are the elements with the names, in their order.
func find(n *html.Node, names ...string) (out []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && slices.Contains(names, d.Data) {
			out = append(out, d)
		}
	}
	return out
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.TrimSpace(b.String())
}
