package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/llmerror"
	"github.com/pudu-ai/pudu/internal/models/scripted"
	"github.com/pudu-ai/pudu/internal/replay"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plant is a small Pudu: a real store and manager, an agent of some tools, and the model that is asked for.
type plant struct {
	*replay.Bench
	dir string
	// greeting is what the tool "greet" says: another one is a regression.
	greeting string
	// waiting is called by the tool "wait" before it waits for the end of its context.
	waiting func()
}

const owner = "test"

func build(dir, greeting string, m model.ChatModel, inside ...agent.Middleware) (*plant, error) {
	st, err := sqlstore.Open(context.Background(), sqlstore.Config{Dir: filepath.Join(dir, "data")})
	if err != nil {
		return nil, err
	}
	p := &plant{dir: dir, greeting: greeting}
	chain := append([]agent.Middleware{llmerror.New(llmerror.Config{BaseDelay: time.Millisecond,
		CapDelay: time.Millisecond})}, inside...)
	a, err := agent.New(agent.Config{Model: m, Tools: p.tools(), Channels: threadstate.Channels()}, chain...)
	if err != nil {
		return nil, err
	}
	manager := runs.NewManager(runs.Config{Store: st, Owner: owner,
		Build: func(_ context.Context, job runs.Job) (runs.Built, error) {
			built := runs.Built{Agent: a, Close: func() error { return nil }}
			built.Config.MaxSteps = job.Request.MaxSteps
			return built, nil
		}})
	p.Bench = &replay.Bench{Manager: manager, Store: st, Owner: owner, User: access.FromRow("user"), Files: p.files,
		Close: st.Close}
	return p, nil
}

// files are those of the only thread.
func (p *plant) files(context.Context, access.User, string) (*sandbox.Files, error) {
	var mounts []sandbox.Mount
	for _, name := range []string{"uploads", "workspace"} {
		host := filepath.Join(p.dir, name)
		if err := os.MkdirAll(host, 0o750); err != nil {
			return nil, err
		}
		mounts = append(mounts, sandbox.Mount{Host: host, Path: sandbox.UserData + "/" + name})
	}
	return sandbox.NewFiles(mounts, sandbox.FilesOptions{})
}

func (p *plant) tools() []tool.Tool {
	type args struct {
		Text string `json:"text,omitempty"`
	}
	of := func(name string, do func(*tool.Call, string) (*tool.Result, error)) tool.Tool {
		return tool.MustNew(tool.Spec{Name: name, Description: "Test."},
			func(_ context.Context, c *tool.Call, in args) (*tool.Result, error) {
				return do(c, in.Text)
			})
	}
	wait := func(ctx context.Context, _ *tool.Call, _ args) (*tool.Result, error) {
		p.waiting()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []tool.Tool{
		tool.MustNew(tool.Spec{Name: "wait", Description: "Test."}, wait),
		of("greet", func(c *tool.Call, text string) (*tool.Result, error) {
			msgs := agent.Messages.Get(c.State)
			res := tool.Text(p.greeting + ", " + text + "! I answer " + msgs[len(msgs)-1].ID)
			res.Artifact = json.RawMessage(`{"at":"` + time.Now().Format(time.RFC3339Nano) + `","n":1.50}`)
			res.Update = threadstate.Title.Put("Greetings")
			return res, nil
		}),
		of("fail", func(_ *tool.Call, text string) (*tool.Result, error) { return tool.Error("cannot " + text), nil }),
		of("abort", func(_ *tool.Call, text string) (*tool.Result, error) { return nil, errors.New(text) }),
		of("long", func(_ *tool.Call, text string) (*tool.Result, error) {
			return tool.Text(strings.Repeat(text+p.greeting+"\n", 20_000)), nil
		}),
		of("ask", func(c *tool.Call, text string) (*tool.Result, error) {
			_, err := c.Ask(map[string]string{"question": text})
			return nil, err
		}),
		of("read", func(_ *tool.Call, text string) (*tool.Result, error) {
			files, err := p.files(context.Background(), access.User{}, "")
			if err != nil {
				return nil, err
			}
			defer files.Close()
			raw, err := files.ReadFile(text, 8<<20)
			if err != nil {
				return tool.Error(err.Error()), nil
			}
			return tool.Text(string(raw[:min(len(raw), 100)])), nil
		}),
	}
}

// turns is a model of fixed turns: the n-th answer of the conversation is the n-th turn.
func turns(list ...scripted.Turn) model.ChatModel {
	return scripted.Func(func(req *model.Request) scripted.Turn {
		n := 0
		for _, m := range req.Messages {
			if m.Role == message.AI {
				n++
			}
		}
		return list[min(n, len(list)-1)]
	})
}

func call(id, name, args string) scripted.Call { return scripted.Call{ID: id, Name: name, Args: args} }

// original carries out runs, one per task, and returns where they are kept.
func original(t *testing.T, m model.ChatModel, maxSteps int, tasks ...string) (*plant, []store.Run) {
	t.Helper()
	p, err := build(t.TempDir(), "Hello", m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	var list []store.Run
	for _, task := range tasks {
		list = append(list, p.carryOut(t, t.Context(), task, maxSteps))
	}
	return p, list
}

func (p *plant) carryOut(t *testing.T, ctx context.Context, task string, maxSteps int) store.Run {
	t.Helper()
	run, err := p.Manager.For(p.User).Admit(t.Context(), runs.Request{
		ThreadID: "thread", Model: "scripted/func", MaxSteps: maxSteps,
		Input: []message.Message{message.New(message.Human, task)},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Manager.Execute(ctx, run, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return out.Run
}

// record makes a recording and takes it through its file.
func (p *plant) record(t *testing.T, runID string) *replay.Recording {
	t.Helper()
	files, err := p.files(context.Background(), access.User{}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	r, err := replay.Record(t.Context(), replay.Source{Store: p.Store.For(p.User), Files: files}, "thread", runID)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := replay.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := replay.Parse("x.yaml", raw)
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	again, err := replay.Encode(back)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(raw), string(again)); d != "" {
		t.Errorf("the file changes when it is read and written:\n%s", d)
	}
	return back
}

// play replays on a plant with the greeting.
func play(t *testing.T, r *replay.Recording, greeting, beside string) (replay.Report, error) {
	t.Helper()
	dir := t.TempDir()
	return replay.Play(t.Context(), r, replay.Options{
		Beside: beside,
		Open: func(_ context.Context, _ *replay.Recording, player *replay.Player) (*replay.Bench, error) {
			p, err := build(dir, greeting, player, player.Inside())
			if err != nil {
				return nil, err
			}
			return p.Bench, nil
		},
	})
}

func wantSame(t *testing.T, r *replay.Recording) {
	t.Helper()
	report, err := play(t, r, "Hello", "")
	if err != nil {
		t.Fatal(err)
	}
	if report.Difference != nil {
		raw, _ := replay.Encode(r)
		t.Errorf("%s\n%s", report.Difference, raw)
	}
	if report.Turns != len(r.Turns) || report.Calls != r.Calls() {
		t.Errorf("report %+v", report)
	}
}

func wantDifference(t *testing.T, r *replay.Recording, greeting string, want ...string) {
	t.Helper()
	report, err := play(t, r, greeting, "")
	if err != nil {
		t.Fatal(err)
	}
	if report.Difference == nil {
		t.Fatal("no difference was found")
	}
	for _, w := range want {
		if !strings.Contains(report.Difference.String(), w) {
			t.Errorf("the difference lacks %q:\n%s", w, report.Difference)
		}
	}
}

var done = scripted.Turn{Text: "Done."}

func TestARunDoesAgainWhatItDid(t *testing.T) {
	notFound := scripted.Turn{Error: &scripted.Error{Class: model.ClassNotFound, Status: 404, Message: "no such model"}}
	busy := scripted.Turn{Text: "half", Error: &scripted.Error{Class: model.ClassBusy, Message: "come back",
		RetryAfter: 90 * time.Second}}
	for name, tt := range map[string]struct {
		maxSteps int
		status   string
		turns    []scripted.Turn
	}{
		"one answer": {0, event.StatusSuccess,
			[]scripted.Turn{{Text: "Hi.", Reasoning: "A greeting.\nI answer.", FinishReason: "end_turn"}}},
		"tools side by side": {0, event.StatusSuccess,
			[]scripted.Turn{{ToolCalls: []scripted.Call{call("a", "greet", `{"text":"A"}`),
				call("b", "fail", `{"text":"B"}`), call("c", "greet", `{"text":"C"}`)}}, done}},
		"one id in two turns": {0, event.StatusSuccess,
			[]scripted.Turn{{ToolCalls: []scripted.Call{call("a", "greet", `{"text":"A"}`)}},
				{ToolCalls: []scripted.Call{call("a", "fail", `{"text":"B"}`)}}, done}},
		"calls that cannot run": {0, event.StatusSuccess,
			[]scripted.Turn{{ToolCalls: []scripted.Call{call("a", "greet", `{"text":`), call("b", "nothing", `{}`),
				call("c", "greet", `{"text":5.0,"n":1e400}`), call("", "greet", `{"a":1,"a":2}`)}}, done}},
		"a result that is long": {0, event.StatusSuccess,
			[]scripted.Turn{{ToolCalls: []scripted.Call{call("a", "long", `{"text":"abc"}`)}}, done}},
		"a limit": {3, event.StatusSuccess,
			[]scripted.Turn{{ToolCalls: []scripted.Call{call("a", "greet", `{"text":"A"}`)}},
				{Text: "more", ToolCalls: []scripted.Call{call("b", "greet", `{}`)}}}},
		"a question": {0, event.StatusInterrupted,
			[]scripted.Turn{{ToolCalls: []scripted.Call{call("a", "greet", `{"text":"A"}`),
				call("b", "ask", `{"text":"which?"}`)}}}},
		"a tool that aborts": {0, event.StatusError,
			[]scripted.Turn{{ToolCalls: []scripted.Call{call("a", "abort", `{"text":"broken"}`)}}}},
		"a model that is absent": {0, event.StatusError,
			[]scripted.Turn{{ToolCalls: []scripted.Call{call("a", "greet", `{}`)}}, notFound}},
		"a model that is busy": {0, event.StatusError, []scripted.Turn{busy}},
	} {
		t.Run(name, func(t *testing.T) {
			p, list := original(t, turns(tt.turns...), tt.maxSteps, "please")
			if list[0].Status != tt.status {
				t.Fatalf("the run ended as %s: %s", list[0].Status, list[0].Error)
			}
			wantSame(t, p.record(t, ""))
		})
	}
}

// stream is a model of its own chunks.
type stream func(ctx context.Context, yield func(message.Chunk, error) bool)

func (stream) Name() string { return "test/stream" }
func (s stream) Stream(ctx context.Context, _ *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) { s(ctx, yield) }
}

func TestSignedReasoningIsPlayedAsItWas(t *testing.T) {
	p, _ := original(t, stream(func(_ context.Context, yield func(message.Chunk, error) bool) {
		for _, c := range []message.Chunk{
			{Reasoning: "I think"}, {Signature: "s1"}, {Redacted: "r1"}, {Text: " so\n"},
			{FinishReason: "stop", Usage: &message.Usage{InputTokens: 3, OutputTokens: 2, TotalTokens: 5, CacheRead: 1,
				Reasoning: 1},
				Metadata: message.Fields{"id": json.RawMessage(`"m1"`)},
				Kwargs:   message.Fields{"k": json.RawMessage(`[1]`)}},
		} {
			if !yield(c, nil) {
				return
			}
		}
	}), 0, "please")
	r := p.record(t, "")
	if got := r.Turns[0]; len(got.Content) != 3 || got.Content[0].Signature != "s1" || got.Usage.CacheRead != 1 ||
		got.FinishReason != "stop" {
		t.Errorf("recorded %+v", got)
	}
	wantSame(t, r)
}

func TestCancelledInTheModelCall(t *testing.T) {
	for name, text := range map[string]string{"in the middle of a sentence": "I was about to", "before a word": ""} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			p, _ := original(t, stream(func(ctx context.Context, yield func(message.Chunk, error) bool) {
				if text == "" || yield(message.Chunk{Text: text}, nil) {
					cancel(runs.ErrCancelled)
					<-ctx.Done()
					yield(message.Chunk{}, ctx.Err())
				}
			}), 0)
			if run := p.carryOut(t, ctx, "please", 0); run.StopReason != store.Cancelled {
				t.Fatalf("the run ended as %s", run.Status)
			}
			r := p.record(t, "")
			if !r.Turns[0].Cancelled || string(r.Turns[0].Text) != text {
				t.Errorf("recorded %+v", r.Turns[0])
			}
			wantSame(t, r)
		})
	}
}

func TestAFailureThatIsNotTheProviders(t *testing.T) {
	p, _ := original(t, stream(func(_ context.Context, yield func(message.Chunk, error) bool) {
		yield(message.Chunk{}, errors.New("out of tape"))
	}), 0, "please")
	wantSame(t, p.record(t, ""))
}

// TestWhatWasSaidToTheRunIsSaidAgain: before the first call of the model and behind the results of tools, in its order.
func TestWhatWasSaidToTheRunIsSaidAgain(t *testing.T) {
	var p *plant
	say := func(list ...string) {
		for _, text := range list {
			run, err := p.Manager.For(p.User).
				Say(t.Context(), runs.Request{ThreadID: "thread",
					Input: []message.Message{message.New(message.Human, text)}})
			if err != nil || !run.IsSteer() {
				t.Errorf("%q is not said to the run: %+v, %v", text, run, err)
			}
		}
	}
	m := scripted.Func(func(req *model.Request) scripted.Turn {
		switch last := req.Messages[len(req.Messages)-1]; last.Text() {
		case "early":
			say("first", "second")
			return scripted.Turn{ToolCalls: []scripted.Call{call("a", "greet", `{"text":"A"}`),
				call("b", "fail", `{"text":"B"}`)}}
		case "second":
			return scripted.Turn{ToolCalls: []scripted.Call{call("c", "greet", `{"text":"C"}`)}}
		default:
			return done
		}
	})
	p, _ = original(t, m, 0)
	run, err := p.Manager.For(p.User).Admit(t.Context(), runs.Request{ThreadID: "thread", Model: "scripted/func",
		Input: []message.Message{message.New(message.Human, "go")}})
	if err != nil {
		t.Fatal(err)
	}
	say("early")
	if _, err := p.Manager.Execute(t.Context(), run, func(event.Event) {}); err != nil {
		t.Fatal(err)
	}
	r := p.record(t, run.ID)
	var said []int
	for _, turn := range r.Turns {
		said = append(said, len(turn.Said))
	}
	if d := cmp.Diff([]int{1, 2, 0}, said); d != "" {
		t.Error(d)
	}
	wantSame(t, r)

	for i := range 50 { // more than may wait at once
		r.Turns[1].Said = append(r.Turns[1].Said, replay.Value(fmt.Sprintf(`{"type":"human","content":"more %d"}`, i)))
	}
	wantDifference(t, r, "Hello", "turn 2: the model was asked with another number of messages", "- 7", "+ 57")
	r.Turns[1].Said = nil
	wantDifference(t, r, "Hello", "turn 2: the model was asked with another number of messages", "- 7", "+ 5")
}

func TestARunInTheMiddleOfAConversation(t *testing.T) {
	path := sandbox.Workspace + "/note.txt"
	p, err := build(t.TempDir(), "Hello", turns(
		scripted.Turn{ToolCalls: []scripted.Call{call("a", "greet", `{"text":"A"}`)}}, done,
		scripted.Turn{ToolCalls: []scripted.Call{call("b", "read", `{"text":"`+path+`"}`),
			call("c", "read", `{"text":"`+sandbox.Uploads+`/b.bin"}`)}}, done, done))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	first := p.carryOut(t, t.Context(), "one", 0)
	p.write(t, path, []byte("remember\nthis\n"))
	p.write(t, sandbox.Uploads+"/b.bin", []byte{0, 1, 0xff})
	second := p.carryOut(t, t.Context(), "two", 0)
	p.carryOut(t, t.Context(), "three", 0)
	p.write(t, sandbox.Workspace+"/later.txt", []byte("later"))

	r := p.record(t, second.ID)
	if len(r.Before) == 0 || len(r.Files) != 2 {
		t.Errorf("%d channels before, files %+v", len(r.Before), r.Files)
	}
	if want := []replay.Entry{{Ref: "before 1"}, {Ref: "before 2"}, {Ref: "before 3"}, {Ref: "before 4"},
		{Ref: "input 1"},
		{Ref: "turn 1"}, {Ref: "result 1.1"}, {Ref: "result 1.2"}, {Ref: "turn 2"}}; !cmp.Equal(want,
		r.After.Messages) {
		t.Errorf("messages %+v", r.After.Messages)
	}
	wantSame(t, r)
	wantSame(t, p.record(t, first.ID))

	delete(r.Before, "messages")
	wantDifference(t, r, "Hello", "turn 1: the model was asked with another number of messages", "- 5", "+ 1")
}

// write puts a file there, older than the run that follows.
func (p *plant) write(t *testing.T, path string, data []byte) {
	t.Helper()
	files, err := p.files(context.Background(), access.User{}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if err := files.WriteFile(path, data, false); err != nil {
		t.Fatal(err)
	}
}

func TestALargeFileIsNamedAndAskedFor(t *testing.T) {
	path := sandbox.Uploads + "/big.txt"
	p, err := build(t.TempDir(), "Hello",
		turns(scripted.Turn{ToolCalls: []scripted.Call{call("a", "read", `{"text":"`+path+`"}`)}}, done))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	big := []byte(strings.Repeat("0123456789", 200_000))
	p.write(t, path, big)
	p.carryOut(t, t.Context(), "please", 0)
	r := p.record(t, "")
	if len(r.Files) != 1 || r.Files[0].SHA256 == "" || r.Files[0].Bytes != int64(len(big)) {
		t.Fatalf("files %+v", r.Files)
	}

	beside := t.TempDir()
	copied := filepath.Join(beside, "uploads", "big.txt")
	_, err = play(t, r, "Hello", beside)
	if err == nil || !strings.Contains(err.Error(), r.Files[0].SHA256) ||
		!strings.Contains(err.Error(), "put a copy at "+copied) {
		t.Errorf("without the file: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(copied), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ content, want string }{{"other", "is not the recorded"}, {string(big), ""}} {
		if err := os.WriteFile(copied, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := play(t, r, "Hello", beside)
		if tt.want == "" && (err != nil || report.Difference != nil) ||
			tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("with %.10q: %v, %v", tt.content, err, report.Difference)
		}
	}
}
