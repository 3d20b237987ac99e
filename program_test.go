package pudu_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// configured writes a configuration whose model plays the script, with more sections behind it, and returns its path.
func configured(t *testing.T, script, more string) string {
	t.Helper()
	dir := t.TempDir()
	config := "sandbox: {use: none}\nmodels:\n  - {name: m, provider: scripted, model: m, script: " +
		filepath.Join(dir, "s.yaml") + "}\n" + more
	for name, text := range map[string]string{"s.yaml": script, "config.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "config.yaml")
}

func open(t *testing.T, o pudu.Options) *pudu.Pudu {
	t.Helper()
	p, err := pudu.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func closed(t *testing.T, p *pudu.Pudu) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// said runs a task and returns what was streamed.
func said(t *testing.T, p *pudu.Pudu, task pudu.Task) string {
	t.Helper()
	var text strings.Builder
	for ev, err := range p.Run(t.Context(), task) {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := ev.Data.(event.Chunk); ok {
			text.WriteString(c.Text)
		}
	}
	return text.String()
}

// visits counts the runs of a thread.
var visits = state.LastValue[int]("visits").AsPrivate()

type counter struct{}

func (counter) Name() string                 { return "CounterMiddleware" }
func (counter) Channels() []state.AnyChannel { return []state.AnyChannel{visits} }
func (counter) BeforeAgent(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	return agent.Command{Update: visits.Put(visits.Get(s) + 1)}, nil
}

func shelf(t *testing.T) tool.Tool {
	t.Helper()
	return tool.MustNew(tool.Spec{Name: "shelf", Description: "Tells what is on a shelf.", Effect: tool.ReadOnly},
		func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
			return tool.Text("three apples"), nil
		})
}

const shelfScript = `dialogues:
  - match: "What lies there"
    turns:
      - tool_calls: [{name: shelf, args: {}}, {name: read_file, args: {description: Look, path: /mnt/user-data/uploads/list.txt}}]
      - tool_calls: [{name: write_file, args: {description: Note, path: /mnt/user-data/outputs/found.md, content: apples}}]
      - text: "There are three apples."
  - match: "And now"
    turns:
      - text: "Still three."
`

func TestTheWholeAgentInAProgramKeepsItsThreads(t *testing.T) {
	o := pudu.Options{
		Config: configured(t, shelfScript, ""), Data: t.TempDir(), Tools: []tool.Tool{shelf(t)},
		Middlewares: []agent.Middleware{counter{}},
	}
	p := open(t, o)
	if got, err := p.Upload("t1", "list.txt",
		strings.NewReader("shelf 1\n")); got != "/mnt/user-data/uploads/list.txt" || err != nil {
		t.Errorf("uploaded to %q, %v", got, err)
	}
	task := pudu.Task{
		Thread: "t1", Text: "What lies there?", Files: map[string][]byte{"more.txt": []byte("x")},
		Context: map[string]any{"is_plan_mode": true},
	}
	if got := said(t, p, task); got != "There are three apples." {
		t.Errorf("said %q", got)
	}
	closed(t, p)

	p = open(t, o) // another process, later
	defer closed(t, p)
	if got := said(t, p, pudu.Task{Thread: "t1", Text: "And now?"}); got != "Still three." {
		t.Errorf("said %q", got)
	}
	s, err := p.State(t.Context(), "t1")
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]string{}
	for _, m := range agent.Messages.Get(s) {
		if m.Role == message.Tool {
			results[m.Name] = m.Text()
		}
	}
	if visits.Get(s) != 2 || results["shelf"] != "three apples" || !strings.Contains(results["read_file"], "shelf 1") {
		t.Errorf("%d visits, results %q", visits.Get(s), results)
	}
	if b, err := p.ReadFile(t.Context(), "t1", "/mnt/user-data/outputs/found.md"); string(b) != "apples" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
	for _, limit := range []int{0, 1001} {
		if _, err := p.Threads(t.Context(), limit, 0); err == nil {
			t.Errorf("Threads took limit %d", limit)
		}
	}
	list, err := p.Threads(t.Context(), 10, 0)
	if err != nil || len(list) != 1 || list[0].ID != "t1" || list[0].Title == "" || list[0].Status != "idle" {
		t.Errorf("threads %+v, %v", list, err)
	}
	if err := p.DeleteThread(t.Context(), "t1"); err != nil {
		t.Error(err)
	}
	if _, err := p.State(t.Context(), "t1"); !errors.Is(err, pudu.ErrNotFound) {
		t.Errorf("the state of a deleted thread: %v", err)
	}
}

func TestOpenSaysWhatIsInItsWay(t *testing.T) {
	o := pudu.Options{Config: configured(t, shelfScript, ""), Data: t.TempDir()}
	p := open(t, o)
	defer closed(t, p)
	if _, err := pudu.Open(t.Context(), o); !errors.Is(err, pudu.ErrLocked) {
		t.Errorf("a data folder in use: %v", err)
	}
	o.Data = t.TempDir()
	o.Tools = []tool.Tool{tool.MustNew(tool.Spec{Name: "ls", Description: "Lists."},
		func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
			return tool.Text(""), nil
		})}
	if _, err := pudu.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), `"ls": the name is taken`) {
		t.Errorf("a tool of a name that is taken: %v", err)
	}
}

func TestOpenWithoutAModelTellsHowToAddOne(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("sandbox: {use: none}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasSuffix(name, "_API_KEY") || strings.HasPrefix(name, "PUDU_") ||
			strings.HasPrefix(name, "OPENAI_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("OLLAMA_HOST", "127.0.0.1:9") // nothing listens there
	t.Setenv("HOME", t.TempDir())
	_, err := pudu.Open(t.Context(), pudu.Options{Config: config, Data: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Errorf("got %v", err)
	}
}

func TestARunOfTheWholeAgentCanBeLeftOrCancelled(t *testing.T) {
	const slow = "dialogues:\n  - turns:\n      - {text: 'one two three four five six', chunk_size: 2, chunk_delay: 20ms}\n"
	p := open(t, pudu.Options{Config: configured(t, slow, ""), Data: t.TempDir()})
	defer closed(t, p)
	for ev, err := range p.Run(t.Context(), pudu.Task{Thread: "t", Text: "Count."}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.Data.(event.Chunk); !ok {
			continue
		}
		for _, err := range p.Run(t.Context(), pudu.Task{Thread: "t", Text: "Count twice."}) {
			if !errors.Is(err, pudu.ErrBusy) {
				t.Errorf("a second run: %v", err)
			}
		}
		break
	}
	list, err := p.Threads(t.Context(), 1, 0)
	if err != nil || len(list) != 1 || list[0].Status != "interrupted" {
		t.Errorf("after leaving: %+v, %v", list, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for ev, err := range p.Run(ctx, pudu.Task{Thread: "t", Text: "Count."}) {
		if _, ok := ev.Data.(event.Chunk); ok {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("a run that was cancelled ends with %v", last)
	}
	if got := said(t, p, pudu.Task{Thread: "t", Text: "Count."}); got != "one two three four five six" {
		t.Errorf("the thread goes on with %q", got)
	}
}

func TestAFailureOfARunIsItsLastPair(t *testing.T) {
	const fails = "dialogues:\n  - turns:\n      - error: {class: auth, status: 401, message: wrong key}\n"
	p := open(t, pudu.Options{Config: configured(t, fails, ""), Data: t.TempDir()})
	defer closed(t, p)
	for name, task := range map[string]pudu.Task{
		"model":     {Thread: "t", Text: "Hello."},
		"thread id": {Thread: "no/id", Text: "Hello."},
		"context":   {Thread: "t", Text: "Hello.", Context: map[string]any{"x": func() {}}},
		"answer":    {Thread: "t", Answer: func() {}},
	} {
		var last error
		for _, err := range p.Run(t.Context(), task) {
			last = err
		}
		if last == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, err := range p.Resume(t.Context(), "t") {
		if !errors.Is(err, pudu.ErrNotFound) {
			t.Errorf("nothing to resume: %v", err)
		}
	}
}

func TestAPersonApprovesACallOfTheWholeAgent(t *testing.T) {
	const script = "dialogues:\n  - turns:\n      - tool_calls: [{name: shelf, args: {}}]\n      - text: 'It says: {{.LastToolResult}}'\n"
	const rules = "guardrails: {enabled: true, rules: [{tools: shelf, action: ask}]}\n"
	p := open(t, pudu.Options{Config: configured(t, script, rules), Data: t.TempDir(), Tools: []tool.Tool{shelf(t)}})
	defer closed(t, p)
	asked := 0
	for ev, err := range p.Run(t.Context(), pudu.Task{Thread: "t", Text: "Look."}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.Data.(event.Interrupt); ok {
			asked++
		}
	}
	approve := map[string]any{"decisions": []map[string]string{{"type": "approve"}}}
	if got := said(t, p, pudu.Task{Thread: "t", Answer: approve}); asked != 1 || got != "It says: three apples" {
		t.Errorf("asked %d times, then said %q", asked, got)
	}
}

// mortal is a tool that kills its process when the environment says so.
func mortal() tool.Tool {
	return tool.MustNew(tool.Spec{Name: "mortal", Description: "May die.", Effect: tool.ReadOnly},
		func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
			if os.Getenv("PUDU_TEST_DIES") != "" {
				os.Exit(3)
			}
			return tool.Text("alive"), nil
		})
}

func TestARunThatACrashHasCutOffIsResumed(t *testing.T) {
	const script = "dialogues:\n  - turns:\n      - tool_calls: [{name: mortal, args: {}}]\n      - text: 'It is {{.LastToolResult}}'\n"
	if at := os.Getenv("PUDU_TEST_DIES"); at != "" { // the process that dies
		config, data, _ := strings.Cut(at, ":")
		said(t, open(t, pudu.Options{Config: config, Data: data, Tools: []tool.Tool{mortal()}}),
			pudu.Task{Thread: "t", Text: "Live!"})
		return
	}
	o := pudu.Options{Config: configured(t, script, ""), Data: t.TempDir(), Tools: []tool.Tool{mortal()}}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "PUDU_TEST_DIES="+o.Config+":"+o.Data)
	if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("the process did not die as it should: %v\n%s", err, out)
	}
	p := open(t, o)
	defer closed(t, p)
	if d := cmp.Diff("It is alive", resumed(t, p)); d != "" {
		t.Error(d)
	}
}

// TestAWordToARunOfTheWholeAgent: what is said while a tool works is read by the same run; what comes to a thread at
// rest, or too late, begins the next one.
func TestAWordToARunOfTheWholeAgent(t *testing.T) {
	const script = `dialogues:
  - match: Work
    turns:
      - tool_calls: [{name: hears, args: {}}]
  - turns:
      - {text: 'It read {{.User}}', chunk_size: 4}
`
	var p *pudu.Pudu
	hears := tool.MustNew(tool.Spec{Name: "hears", Description: "Works.", Effect: tool.ReadOnly},
		func(ctx context.Context, _ *tool.Call, _ struct{}) (*tool.Result, error) {
			return tool.Text("done"), p.Say(ctx, "t", "left")
		})
	p = open(t, pudu.Options{Config: configured(t, script, "memory: {enabled: false}\n"), Data: t.TempDir(),
		Tools: []tool.Tool{hears}})
	defer closed(t, p)
	if err := p.Say(t.Context(), "t", "left"); !errors.Is(err, pudu.ErrNotFound) {
		t.Errorf("to no thread: %v", err)
	}
	var text, late string
	for ev, err := range p.Run(t.Context(), pudu.Task{Thread: "t", Text: "Work."}) {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := ev.Data.(event.Chunk); ok && late == "" && c.Text != "" { // the last answer has begun
			late = "up"
			if err := p.Say(t.Context(), "t", late); err != nil {
				t.Fatal(err)
			}
		}
		if c, ok := ev.Data.(event.Chunk); ok {
			text += c.Text
		}
	}
	if text != "It read left" {
		t.Errorf("the run said %q", text)
	}
	if text = resumed(t, p); text != "It read up" {
		t.Errorf("the next run said %q", text)
	}
	if err := p.Say(t.Context(), "t", "go"); err != nil {
		t.Error(err)
	}
	if text = resumed(t, p); text != "It read go" {
		t.Errorf("the last run said %q", text)
	}
	for ev, err := range p.Resume(t.Context(), "t") {
		if !errors.Is(err, pudu.ErrNotFound) {
			t.Fatalf("at the end: %T %+v, %v", ev.Data, ev.Data, err)
		}
	}
}

// resumed goes on with the thread and returns what was streamed.
func resumed(t *testing.T, p *pudu.Pudu) (text string) {
	t.Helper()
	for ev, err := range p.Resume(t.Context(), "t") {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := ev.Data.(event.Chunk); ok {
			text += c.Text
		}
	}
	return text
}
