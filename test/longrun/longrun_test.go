//go:build linux

package longrun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/test/server"
	"github.com/pudu-ai/pudu/test/viewer"
)

// What the configuration says.
const (
	window = 16_000 // tokens
	budget = 700_000
	warnAt = budget * 4 / 10
	shown  = 3000 // characters, the most of a long result with what is said about it
	config = `
models:
- {name: longrun, provider: openai, model: longrun, base_url: %q, api_key: none, supports_vision: true, context_window: 16000}
summarization:
  enabled: true
  trigger: [{type: tokens, value: 11000}]
  keep: {type: messages, value: 12}
token_budget: {enabled: true, max_tokens: 700000, warn_threshold: 0.4, hard_stop_threshold: 1}
tool_output: {externalize_min_chars: 4000, preview_head_chars: 1200, preview_tail_chars: 600}
guardrails:
  enabled: true
  rules:
  - {tools: bash, command: "git push*", action: ask, reason: it leaves the machine}
`
)

// TestSixtySteps: 60 answers of the model in three runs, with two kills, come to the state that they would have come to
// without.
func TestSixtySteps(t *testing.T) {
	m := newModel(t, window)
	if n := len(m.steps); n != 60 {
		t.Fatalf("the script has %d steps", n)
	}
	c := &client{t: t, place: newPlace(t, fmt.Sprintf(config, m.URL+"/v1"))}
	n := c.place.start(t)
	thread := c.thread()
	c.upload(thread, files(t))

	first := c.start(thread,
		map[string]any{"input": map[string]any{"messages": []any{map[string]any{"type": "human", "content": request}}}})
	n = killTwice(c, m, n, first)
	asked := first.end()
	checkQuestion(c, thread, m.ended(0))
	n.Term() // while the question is open
	c.place.start(t)

	second := c.start(thread,
		map[string]any{"command": map[string]any{"resume": map[string]any{"decisions": []any{map[string]any{"type": "approve"}}}}})
	approved := second.end()
	third := c.start(thread, reply(c, thread))
	answered := third.end()

	checkRuns(c, m, []run{asked, approved, answered})
	checkStreams(c, first, second, third)
	checkState(c, m, thread)
	checkFiles(c, thread)
	checkRequests(t, m)
}

// killTwice kills the server while the model speaks and while a command runs, and starts it again.
func killTwice(c *client, m *model, n *server.Node, v *reader) *server.Node {
	say := m.steps[m.killed(speaking)].say
	v.Await("the answer that is cut off", func(fs []viewer.Frame) bool {
		return slices.ContainsFunc(fs, func(f viewer.Frame) bool { return f.Piece() && strings.Contains(f.Data, say) })
	})
	n.Kill()
	n = c.place.start(c.t)
	server.Eventually(c.t, "the command has begun",
		func() bool { return c.artifact(v.thread, workspace+"deploy.log") != "" })
	n.Kill()
	return c.place.start(c.t)
}

// checkQuestion: a person is asked in the shape of LangChain's, and the command has not run.
func checkQuestion(c *client, thread string, at int) {
	c.t.Helper()
	s := c.state(thread)
	if len(s.Tasks) != 1 || len(s.Tasks[0].Interrupts) != 1 || !slices.Equal(s.Next, []string{"tools"}) {
		c.t.Fatalf("next %v, tasks %+v", s.Next, s.Tasks)
	}
	var q struct {
		Actions []struct {
			Name string         `json:"name"`
			Args map[string]any `json:"args"`
		} `json:"actionRequests"`
		Reviews []struct {
			Name    string   `json:"actionName"`
			Allowed []string `json:"allowedDecisions"`
		} `json:"reviewConfigs"`
	}
	server.Must(c.t, json.Unmarshal(s.Tasks[0].Interrupts[0].Value, &q))
	push := script()[at].calls[1]
	if len(q.Actions) != 1 || q.Actions[0].Name != push.tool || !cmp.Equal(q.Actions[0].Args, push.args) ||
		len(q.Reviews) != 1 ||
		q.Reviews[0].Name != push.tool || !slices.Contains(q.Reviews[0].Allowed, "approve") {
		c.t.Errorf("the question is %s", s.Tasks[0].Interrupts[0].Value)
	}
	if got := c.artifact(thread, outputs+"pushed.txt"); got != "" {
		c.t.Errorf("the command ran without approval: %q", got)
	}
	if got := c.artifact(thread, workspace+"ready.log"); got != "ready\n" {
		c.t.Errorf("the call beside it has not run: %q", got)
	}
}

// reply is the user's choice of the second option of the question at the thread's end.
func reply(c *client, thread string) map[string]any {
	c.t.Helper()
	s := c.state(thread)
	q := s.Values.Messages[len(s.Values.Messages)-1].Artifact.HumanInput
	if q.InputMode != "choice_with_other" || len(q.Options) != 2 || len(s.Next) != 0 {
		c.t.Fatalf("next %v, question %+v", s.Next, q)
	}
	return map[string]any{"input": map[string]any{"messages": []any{map[string]any{
		"type": "human", "content": "", "additional_kwargs": map[string]any{"hide_from_ui": true,
			"human_input_response": map[string]any{
				"version": 1, "kind": "human_input_response", "source": "ask_clarification", "request_id": q.RequestID,
				"response_kind": "option", "option_id": q.Options[1].ID, "value": q.Options[1].Value,
			}},
	}}}}
}

// checkRuns: all succeeded, and what they took is counted.
func checkRuns(c *client, m *model, runs []run) {
	c.t.Helper()
	for i, r := range runs {
		attempts, all := 1, m.spentIn(m.begun(i), m.ended(i))
		least := all
		if i == 0 {
			attempts, least = 3, m.certain()
		}
		if r.Status != "success" || r.Error != "" || r.Stop != "" || r.Attempt != attempts {
			c.t.Errorf("run %d: %+v", i, r)
		}
		if r.Input < least.input || r.Input > all.input || r.Output < least.output || r.Output > all.output ||
			r.Total != r.Input+r.Output {
			c.t.Errorf("run %d: usage %+v, want from %+v to %+v", i, r, least, all)
		}
	}
}

// checkStreams: who was cut off has seen everything once, and nothing but pieces of the answer that was cut off beside
// it.
func checkStreams(c *client, first *reader, others ...*reader) {
	c.t.Helper()
	void := first.check()
	if void == 0 || first.Connected() < 3 {
		c.t.Errorf("%d pieces were void, over %d connections", void, first.Connected())
	}
	if !slices.ContainsFunc(first.Seen(),
		func(f viewer.Frame) bool { return f.Event == "values" && strings.Contains(f.Data, `"__interrupt__"`) }) {
		c.t.Error("the question was not in the stream")
	}
	for _, v := range others {
		if void := v.check(); void > 0 || v.Connected() > 1 {
			c.t.Errorf("run %s: %d pieces were void, over %d connections", v.Location(), void, v.Connected())
		}
	}
}

// checkState: everything that was said and done is there once.
func checkState(c *client, m *model, thread string) {
	t := c.t
	t.Helper()
	s := c.state(thread)
	v := s.Values
	var want []todo
	for _, text := range todos() {
		want = append(want, todo{text, "completed"})
	}
	if diff := cmp.Diff(want, v.Todos); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{outputs + "report.md", outputs + "summary.md"}, v.Artifacts); diff != "" {
		t.Error(diff)
	}
	titled := v.Title != "" && strings.HasPrefix(request, strings.TrimRight(v.Title, ".…"))
	if !titled || !strings.HasPrefix(v.Summary, fmt.Sprintf("Record %d:", m.summaries)) || len(s.Next) > 0 {
		t.Errorf("title %q, summary %q, next %v", v.Title, v.Summary, s.Next)
	}
	notes, said := checkTurns(c, m.steps, v.Messages)
	wantNotes := map[string]int{"system ": 1, "human deerflow_view_image_context": 3, "human budget_warning": 1,
		"human todo_reminder": m.forgotten()}
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Errorf("notes: %s", diff)
	}
	checkSaid(t, said)
	checkBudget(t, m, v.Messages)
	checkStored(c, thread, v.Messages)
}

// checkSaid: the user's words are the request, with the uploads before it, and the answer to the question.
func checkSaid(t *testing.T, said []message) {
	t.Helper()
	if len(said) != 2 {
		t.Fatalf("the user said %+v", said)
	}
	block, own, _ := strings.Cut(said[0].Content, "</current_uploads>")
	for _, part := range []string{"<current_uploads>", "notes.txt", "interview 1", "survey guide.md", "L3: Structure",
		"chart.png", "photo.png"} {
		if strings.Count(block, "\n- "+part)+strings.Count(block, part) == 0 {
			t.Errorf("%q is not in %s", part, block)
		}
	}
	if strings.TrimSpace(own) != request || strings.Contains(said[1].Content, "uploads") {
		t.Errorf("%q, %q", own, said[1].Content)
	}
	if want := fmt.Sprintf("Answer to your question %q: By name", question); said[1].Content != want ||
		!said[1].Kwargs.Hidden {
		t.Errorf("%+v", said[1])
	}
}

// checkBudget: each answer says what it took, and the warning came when it was due, with the number that is right
// whatever was killed.
func checkBudget(t *testing.T, m *model, msgs []message) {
	t.Helper()
	var total usage
	n := 0
	for _, msg := range msgs {
		switch {
		case msg.Type == "ai":
			total.add(usage{msg.Usage.Input, msg.Usage.Output})
			n++
		case msg.Name == "budget_warning":
			now, before := m.spentIn(0, n-1), m.spentIn(0, n-2)
			number := fmt.Sprintf(" %d of %d tokens", now.input+now.output, budget)
			if before.input+before.output >= warnAt || now.input+now.output < warnAt ||
				!strings.Contains(strings.ReplaceAll(msg.Content, ",", ""), number) {
				t.Errorf("behind step %d, after %+v and %+v: %s", n-1, before, now, msg.Content)
			}
		}
	}
	if want := m.answers(); total != want {
		t.Errorf("the answers took %+v, their messages say %+v", want, total)
	}
}

// checkFiles: what was written is there once.
func checkFiles(c *client, thread string) {
	c.t.Helper()
	for path, want := range map[string]string{
		outputs + "report.md":    report(),
		outputs + "summary.md":   "# Summary\n\nSeven parts. Signed: by name\n\nThanks to all.\n",
		outputs + "pushed.txt":   "pushed\n",
		workspace + "deploy.log": "begun\n",
		workspace + "ready.log":  "ready\n",
		workspace + "part-3.md": strings.SplitAfter(report(),
			"3.12: the reading was steady.\n")[0][strings.Index(report(), "# Part 3"):],
	} {
		if diff := cmp.Diff(want, c.artifact(thread, path)); diff != "" {
			c.t.Errorf("%s: %s", path, diff)
		}
	}
}

// checkRequests: the model got what a strict provider takes, each request with the one before as its beginning but
// where the conversation was compacted.
func checkRequests(t *testing.T, m *model) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.faults {
		t.Error(f)
	}
	if m.next != len(m.steps) || m.asked != len(m.steps)+1 {
		t.Errorf("%d steps, for %d requests", m.next, m.asked)
	}
	if len(m.breaks) != 2 || len(m.lost) > 0 || m.summaries < len(m.breaks) {
		t.Errorf("the requests of the steps %v do not continue those before, %v without a reason; %d summaries",
			m.breaks, m.lost, m.summaries)
	}
	var images []int
	for i, n := range m.images {
		if i == 0 || n != m.images[i-1] {
			images = append(images, n)
		}
		if m.announced[i] != 1 {
			t.Errorf("step %d: the uploads are announced %d times", i, m.announced[i])
		}
	}
	if diff := cmp.Diff([]int{0, 1, 2, 0, 1}, images); diff != "" {
		t.Errorf("images that were sent, as their number changed: %s", diff)
	}
	t.Logf("%d requests, the largest of %d tokens; compacted before the steps %v", m.asked, m.most, m.breaks)
}

// files are what the user uploads.
func files(t *testing.T) []file {
	t.Helper()
	var notes strings.Builder
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&notes, "interview %d: they answered all questions\n", i)
	}
	return []file{
		{"notes.txt", []byte(notes.String())},
		{"survey guide.md",
			[]byte("# Guide\n\n## Structure\n\nSeven parts, twelve findings each.\n\n## Language\n\nPlain.\n")},
		{"chart.png", drawing(t, 640, 400)},
		{"photo.png", drawing(t, 2400, 1600)}, // larger than vendors take
	}
}

func drawing(t *testing.T, width, height int) []byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
	for x := range width {
		img.SetColorIndex(x, height*(x%97)/97, 1)
	}
	var b bytes.Buffer
	server.Must(t, png.Encode(&b, img))
	return b.Bytes()
}
