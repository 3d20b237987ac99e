package agenttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// TB is what of testing.TB a [Thread] needs. A try of a property has it too.
type TB interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Thread is a conversation with an agent.
type Thread struct {
	// Model answers, Agent asks it. Another agent may take the thread over between runs.
	Model *Model
	Agent *agent.Agent
	// State is what the newest run has left.
	State state.State
	// Config bounds the next runs. New has it run one tool at a time.
	Config agent.RunConfig
	// Events are what the runs emitted or committed, all of them.
	Events []event.Data
	// Steps are the commits of the newest run that changed the state, Usage is what its model calls took.
	Steps []agent.Step
	Usage message.Usage

	mu     sync.Mutex
	runs   int
	ids    int
	prefix string // of ids
}

// New makes a thread without messages. The Model of the configuration is left out: the thread's own gives the answers.
func New(t TB, cfg agent.Config, chain []agent.Middleware, answers ...[]message.Chunk) *Thread {
	t.Helper()
	th := &Thread{Model: &Model{Answers: answers}, Config: agent.RunConfig{ParallelTools: 1}, prefix: "id"}
	cfg.Model = th.Model
	a, err := agent.New(cfg, chain...)
	if err != nil {
		t.Fatal(err)
	}
	th.Agent = a
	return th
}

// Run makes a run and returns the messages that it adds, the user's included.
func (th *Thread) Run(t TB, text string) []message.Message {
	t.Helper()
	in := message.New(message.Human, text)
	in.ID = th.newID()
	before := len(agent.Messages.Get(th.State))
	th.run(t, &agent.Runtime{Input: agent.Messages.Append(in)})
	return agent.Messages.Get(th.State)[before:]
}

// Resume goes on behind a step that the first run of another thread has committed. The state is read back from what
// would be on the disk, and new messages get other ids than those of that run.
func (th *Thread) Resume(t TB, step agent.Step) {
	t.Helper()
	raw, err := step.State.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	if th.State, err = th.Agent.Schema().LoadSnapshot(raw); err != nil {
		t.Fatal(err)
	}
	th.prefix = "again"
	th.run(t, &agent.Runtime{Resume: &agent.Resume{Next: step.Next}})
}

// Play makes the first run of a thread so that another thread can go on at any of its steps: the Model answers
// ByHistory. The tools of one answer run side by side. The run begins with a user's message, or, if from is not nil, as
// in Resume.
func (th *Thread) Play(t TB, from *agent.Step) {
	t.Helper()
	th.Model.ByHistory, th.Config.ParallelTools = true, 0
	if from == nil {
		th.Run(t, "go")
		return
	}
	th.Resume(t, *from)
}

func (th *Thread) run(t TB, rt *agent.Runtime) {
	t.Helper()
	th.runs++
	th.Steps, th.Usage = nil, message.Usage{}
	rt.ThreadID, rt.RunID, rt.Config = "t", th.RunID(), th.Config
	rt.NewID, rt.Emit, rt.Commit = th.newID, th.emit, th.commit
	s, err := th.Agent.Run(t.Context(), rt, th.State)
	if err != nil {
		t.Fatal(err)
	}
	th.State = s
}

func (th *Thread) emit(_ string, d event.Data) {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.Events = append(th.Events, d)
}

func (th *Thread) commit(_ context.Context, s agent.Step) error {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.Usage = s.Spent.Usage
	for _, e := range s.Events {
		th.Events = append(th.Events, e.Data)
	}
	if len(s.Updates) > 0 {
		th.Steps = append(th.Steps, s)
	}
	return nil
}

func (th *Thread) newID() string {
	th.mu.Lock()
	defer th.mu.Unlock()
	id := th.NextID()
	th.ids++
	return id
}

// NextID is the id that the next message gets. Between runs that is the user's.
func (th *Thread) NextID() string { return fmt.Sprintf("%s%d", th.prefix, th.ids+1) }

// RunID is the id of the newest run: "run1" of the first.
func (th *Thread) RunID() string { return fmt.Sprintf("run%d", th.runs) }

// Reason is the stop reason of the newest run; empty if nothing has stopped it.
func (th *Thread) Reason() string { return agent.StopState(th.State, th.RunID()).Reason }

// CheckGrowth fails unless each request of the thread begins, byte for byte, with the messages of the one before.
func (th *Thread) CheckGrowth(t TB) {
	t.Helper()
	var before [][]byte
	for i, req := range th.Model.Requests {
		var now [][]byte
		for _, m := range req.Messages {
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			now = append(now, raw)
		}
		if len(now) < len(before) || !slices.EqualFunc(now[:len(before)], before, bytes.Equal) {
			t.Errorf("request %d does not begin with the one before it", i+1)
		}
		before = now
	}
}
