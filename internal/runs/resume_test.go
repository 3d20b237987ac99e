package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// site is a data folder with the tools that work there; each process is a manager of its own.
type site struct {
	t     *testing.T
	store store.Store
	model model.ChatModel
	tools []tool.Tool
	chain []agent.Middleware
	// steps bounds the nodes of a run; 0 means the default. closing, if not nil, is called when a run's resources are.
	steps   int
	closing func()
	// check is what is found when a run has come to its end.
	check error

	seconds atomic.Int64

	mu    sync.Mutex
	calls map[string]int // of each tool
}

func newSite(t *testing.T, turns ...[]string) *site {
	t.Helper()
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: databases.Dir(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &site{t: t, store: st, calls: make(map[string]int), model: calls(turns)}
}

// calls is a model that calls the tools of each turn side by side, and then answers with what came of them.
func calls(turns [][]string) fakeModel {
	return func(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		said, results := 0, []string{}
		for _, m := range req.Messages {
			switch m.Role {
			case message.AI:
				said++
			case message.Tool:
				results = append(results, m.Text())
			}
		}
		usage := &message.Usage{InputTokens: 10, OutputTokens: 1, TotalTokens: 11}
		if said == len(turns) {
			return chunks(message.Chunk{Text: strings.Join(results, "|"), Usage: usage, FinishReason: "stop"})
		}
		c := message.Chunk{Usage: usage, FinishReason: "tool_calls"}
		for i, name := range turns[said] {
			c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i, ID: fmt.Sprintf("%s-%d", name, said),
				Name: name, Args: "{}"})
		}
		return chunks(c)
	}
}

func (s *site) tool(name string, effect tool.Effect, run func(ctx context.Context, nth int, c *tool.Call) (*tool.Result,
	error)) {
	spec := tool.Spec{Name: name, Description: "A tool.", Effect: effect}
	s.tools = append(s.tools,
		tool.MustNew(spec, func(ctx context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
			s.mu.Lock()
			s.calls[name]++
			nth := s.calls[name]
			s.mu.Unlock()
			return run(ctx, nth, c)
		}))
}

// does adds a tool with side effects that says its name.
func (s *site) does(name string) {
	s.tool(name, tool.SideEffects, func(context.Context, int, *tool.Call) (*tool.Result,
		error) {
		return tool.Text(name + " done"), nil
	})
}

// hangs adds a tool whose first call does not end before the process does.
func (s *site) hangs(name string, effect tool.Effect) (begun chan struct{}) {
	begun = make(chan struct{})
	s.tool(name, effect, func(ctx context.Context, nth int, _ *tool.Call) (*tool.Result, error) {
		if nth == 1 {
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return tool.Text(name + " done"), nil
	})
	return begun
}

func (s *site) process(owner string) *runs.Manager {
	s.t.Helper()
	a, err := agent.New(agent.Config{Model: s.model, Tools: s.tools}, s.chain...)
	if err != nil {
		s.t.Fatal(err)
	}
	return runs.NewManager(runs.Config{Store: s.store, Owner: owner, Now: s.now,
		Build: func(context.Context, runs.Job) (runs.Built, error) {
			check := func(context.Context, state.State) error { return s.check }
			return runs.Built{Agent: a, Config: agent.RunConfig{MaxSteps: s.steps}, Check: check, Close: func() error {
				if s.closing != nil {
					s.closing()
				}
				return nil
			}}, nil
		}})
}

// now is a clock on which everything takes a second.
func (s *site) now() time.Time { return time.Unix(s.seconds.Add(1), 0) }

func noShow(event.Event) {}

// dies admits a run in a process that stops as soon as begun says so, and returns the run as the next one finds it.
func (s *site) dies(begun <-chan struct{}) store.Run {
	s.t.Helper()
	first := s.process("first")
	run, err := first.For(user()).Admit(s.t.Context(), request())
	if err != nil {
		s.t.Fatal(err)
	}
	go func() {
		<-begun
		first.Stop()
	}()
	if _, err := first.Execute(s.t.Context(), run, noShow); !errors.Is(err, runs.ErrStopped) {
		s.t.Fatalf("the first process ended with %v", err)
	}
	return s.unfinished("second")
}

func (s *site) unfinished(owner string) store.Run {
	s.t.Helper()
	left, err := s.process(owner).Unfinished(s.t.Context())
	if err != nil || len(left) != 1 {
		s.t.Fatalf("%d unfinished runs, error %v", len(left), err)
	}
	return left[0]
}

func request() runs.Request {
	return runs.Request{ThreadID: "thread", UserID: "user", Input: []message.Message{message.New(message.Human, "go")}}
}

// results are the texts of the thread's tool messages.
func (s *site) results() map[string]string {
	s.t.Helper()
	cp, err := s.store.For(user()).Checkpoint(s.t.Context(), nil, "thread", "")
	if err != nil {
		s.t.Fatal(err)
	}
	got := make(map[string]string)
	for _, m := range agent.Messages.Get(cp.State) {
		if m.Role != message.Tool {
			continue
		}
		got[m.ToolCallID] = m.Text()
		if m.Kwargs[message.KeyOutcomeUnknown] != nil {
			got[m.ToolCallID] = "unknown"
		}
	}
	return got
}

func TestResumeUsesWhatIsKnown(t *testing.T) {
	s := newSite(t, []string{"earlier"}, []string{"quick", "slow", "look", "again"})
	s.does("earlier")
	quick := make(chan struct{})
	s.tool("quick", tool.SideEffects, func(context.Context, int, *tool.Call) (*tool.Result, error) {
		close(quick)
		return tool.Text("quick done"), nil
	})
	slow := s.hangs("slow", tool.SideEffects)
	look, again := s.hangs("look", tool.ReadOnly), s.hangs("again", tool.Idempotent)
	begun := make(chan struct{})
	go func() {
		for _, c := range []chan struct{}{quick, slow, look, again} {
			<-c
		}
		s.waitForEnd("quick-1")
		close(begun)
	}()
	run := s.dies(begun)
	out, err := s.process("second").Resume(t.Context(), run, noShow)
	if err != nil || out.Run.Status != event.StatusSuccess || out.Run.Attempt != 2 {
		t.Fatalf("run %+v, error %v", out.Run, err)
	}
	want := map[string]string{"earlier-0": "earlier done", "quick-1": "quick done", "slow-1": "unknown",
		"look-1": "look done", "again-1": "again done"}
	if diff := cmp.Diff(want, s.results()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{"earlier": 1, "quick": 1, "slow": 1, "look": 2, "again": 2},
		s.calls); diff != "" {
		t.Errorf("calls: %s", diff)
	}
	if out.Usage.TotalTokens != 33 { // three model calls, two of them before the crash
		t.Errorf("usage %+v", out.Usage)
	}
}

// waitForEnd waits until the result of a call is in the log.
func (s *site) waitForEnd(call string) {
	for {
		list, err := s.store.For(user()).ListRuns(s.t.Context(), store.RunFilter{})
		if err != nil || len(list) == 0 {
			s.t.Errorf("%d runs, error %v", len(list), err)
			return
		}
		evs, err := s.store.For(user()).Events(s.t.Context(), list[0].ID, event.ID{}, 1000)
		if err != nil {
			s.t.Error(err)
			return
		}
		for _, ev := range evs {
			if end, ok := ev.Data.(event.ToolEnd); ok && end.CallID == call {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
}

func TestResumeOfARunThatHasNoCheckpoint(t *testing.T) {
	s := newSite(t, []string{"work"})
	s.does("work")
	if _, err := s.process("first").For(user()).Admit(t.Context(), request()); err != nil {
		t.Fatal(err)
	}
	out, err := s.process("second").Resume(t.Context(), s.unfinished("second"), noShow)
	if err != nil || out.Run.Status != event.StatusSuccess {
		t.Fatalf("run %+v, error %v", out.Run, err)
	}
	if msgs := agent.Messages.Get(out.State); msgs[0].Text() != "go" || len(msgs) != 4 {
		t.Errorf("%d messages, the first is %q", len(msgs), msgs[0].Text())
	}
}

func TestARunThatGetsNowhereIsEnded(t *testing.T) {
	s := newSite(t)
	entered := make(chan struct{}, 1)
	s.model = fakeModel(func(ctx context.Context, _ *model.Request) iter.Seq2[message.Chunk, error] {
		return func(yield func(message.Chunk, error) bool) {
			entered <- struct{}{}
			<-ctx.Done()
			yield(message.Chunk{}, ctx.Err())
		}
	})
	// The first attempt commits the input, which is a step, before it asks the model.
	run := s.dies(entered)
	attempts := 1
	for ; attempts < 10; attempts++ {
		p := s.process(fmt.Sprint("process ", attempts))
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			select {
			case <-entered:
				p.Stop()
			case <-t.Context().Done():
			}
		}()
		out, err := p.Resume(t.Context(), run, noShow)
		if err == nil {
			if out.Run.Status != event.StatusError || !strings.Contains(out.Run.Error, "3 attempts in a row") {
				t.Errorf("run %+v", out.Run)
			}
			break
		}
		if <-stopped; !errors.Is(err, runs.ErrStopped) {
			t.Fatal(err)
		}
		if run, err = s.store.For(user()).Run(t.Context(), run.ID); err != nil {
			t.Fatal(err)
		}
	}
	if attempts > 4 {
		t.Errorf("it took %d attempts", attempts)
	}
	s.model = calls(nil)
	if out, err := s.process("last").Resume(t.Context(), run, noShow); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an ended run was resumed: %+v, %v", out.Run, err)
	}
}

// TestAnInterruptWaits: the answer to a question comes to another process; what the call's siblings did is not done
// again.
func TestAnInterruptWaits(t *testing.T) {
	s := newSite(t, []string{"deploy", "build"})
	s.tool("deploy", tool.SideEffects, func(_ context.Context, _ int, c *tool.Call) (*tool.Result, error) {
		answer, err := c.Ask("really?")
		if err != nil {
			return nil, err
		}
		return tool.Text("deployed: " + string(answer)), nil
	})
	s.does("build")
	first := s.process("first")
	run, err := first.For(user()).Admit(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	out, err := first.Execute(t.Context(), run, noShow)
	if err != nil || out.Run.Status != event.StatusInterrupted {
		t.Fatalf("run %+v, error %v", out.Run, err)
	}
	second := s.process("second")
	req := runs.Request{ThreadID: "thread", UserID: "user",
		Answers: map[string]json.RawMessage{"deploy-0": json.RawMessage(`"yes"`)}}
	if run, err = second.For(user()).Admit(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if out, err = second.Execute(t.Context(), run, noShow); err != nil || out.Run.Status != event.StatusSuccess {
		t.Fatalf("run %+v, error %v", out.Run, err)
	}
	if diff := cmp.Diff(map[string]string{"deploy-0": `deployed: "yes"`, "build-0": "build done"},
		s.results()); diff != "" {
		t.Error(diff)
	}
	if s.calls["build"] != 1 || s.calls["deploy"] != 2 {
		t.Errorf("calls %v", s.calls)
	}
}

func TestServeGoesOnWithWhatOthersLeft(t *testing.T) {
	s := newSite(t, []string{"slow"})
	run := s.dies(s.hangs("slow", tool.SideEffects))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	show := func(store.Run) func(event.Event) {
		return func(ev event.Event) {
			if d, ok := ev.Data.(event.Run); ok && d.Status == event.StatusSuccess {
				close(ended)
			}
		}
	}
	var served sync.WaitGroup
	served.Go(func() { s.process("server").Serve(ctx, show) })
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the run was not resumed")
	}
	stop()
	served.Wait()
	if got := s.results()["slow-0"]; got != "unknown" {
		t.Errorf("the call that was cut off has the result %q", got)
	}
	if got, err := s.store.For(user()).Run(t.Context(), run.ID); err != nil || got.Owner != "server" {
		t.Errorf("run %+v, error %v", got, err)
	}
}

// TestServeStops: a server that stops leaves its runs as they are, within the time that a tool needs to stop.
func TestServeStops(t *testing.T) {
	s := newSite(t, []string{"slow"})
	s.dies(s.hangs("slow", tool.Idempotent))
	s.calls["slow"] = 0
	s.tools = nil
	begun := s.hangs("slow", tool.Idempotent)
	ctx, stop := context.WithCancel(t.Context())
	var served sync.WaitGroup
	served.Go(func() { s.process("server").Serve(ctx, func(store.Run) func(event.Event) { return noShow }) })
	<-begun
	stop()
	served.Wait()
	run := s.unfinished("next")
	if run.Status != event.StatusRunning || run.Owner != "server" || len(s.results()) != 0 {
		t.Errorf("run %+v, results %v", run, s.results())
	}
	out, err := s.process("next").Resume(t.Context(), run, noShow)
	if err != nil || out.Run.Status != event.StatusSuccess {
		t.Errorf("run %+v, error %v", out.Run, err)
	}
}

// fullDisk is a store whose writes of steps fail for a while.
type fullDisk struct {
	store.Store
	system
	failures atomic.Int64
}

func (f *fullDisk) System() store.System { return f }

func (f *fullDisk) CommitAll(ctx context.Context, fence store.Fence, steps []store.Step) ([]string, error) {
	if f.failures.Add(-1) >= 0 {
		return nil, errors.New("disk full")
	}
	return f.system.CommitAll(ctx, fence, steps)
}

// TestARunOutlivesAFullDisk: a write that fails neither ends the run nor counts as one of the attempts that get
// nowhere.
func TestARunOutlivesAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, []string{"work"})
		s.does("work")
		disk := &fullDisk{Store: s.store, system: s.store.System()}
		disk.failures.Store(6)
		s.store = disk
		p := s.process("server")
		run, err := p.For(user()).Admit(t.Context(), request())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Execute(t.Context(), run, noShow); err == nil {
			t.Fatal("the run ended on a full disk")
		}
		start := time.Now()
		ctx, stop := context.WithCancel(t.Context())
		var served sync.WaitGroup
		served.Go(func() { p.Serve(ctx, func(store.Run) func(event.Event) { return noShow }) })
		for run.Active() && time.Since(start) < time.Hour {
			time.Sleep(time.Second)
			if run, err = s.store.For(user()).Run(t.Context(), run.ID); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		served.Wait()
		if run.Status != event.StatusSuccess || s.calls["work"] != 1 {
			t.Errorf("run %+v, calls %v", run, s.calls)
		}
		if took := time.Since(start); took < 31*time.Second || took > 2*time.Minute {
			t.Errorf("the pauses do not grow: it took %s", took) // 1 + 2 + 4 + 8 + 16 seconds
		}
	})
}
