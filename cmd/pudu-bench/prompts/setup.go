package prompts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/clarification"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
)

// thread is the conversation's, user whoever has it.
const (
	thread  = "prompt"
	user    = "bench"
	nowhere = "http://model.invalid"
)

// settings are what the conversations differ in.
type settings struct {
	wire   wires.Wire
	cfg    *config.Config
	vision bool
	window int  // of the model; 0 means unknown
	files  bool // whether the user has sent some
	// toolbox are the packages that it shows the sandbox.
	toolbox []string
}

// setup holds all that the agent works with.
type setup struct {
	settings

	dir     string
	store   *sqlstore.Store
	space   *sandbox.Files
	manager *runs.Manager
	memory  *memory.Mine
	skills  *skills.Mine
	guard   lead.ModelGuard
	album   *picture.Album
	sent    *server
	side    *scribe
	below   *helper      // answers the sub-agents
	now     atomic.Int64 // in Unix nanoseconds
}

func newSetup(ctx context.Context, dir string, s settings) (k *setup, err error) {
	k = &setup{settings: s, dir: dir, sent: &server{wire: s.wire}, side: &scribe{wire: s.wire},
		album: picture.NewAlbum(0)}
	k.below = &helper{wire: s.wire, lead: k.sent, say: k.say}
	k.guard = lead.NewModelGuard(s.cfg.LLMCall, s.cfg.CircuitBreaker)
	if s.files {
		if err := writeFiles(dir); err != nil {
			return nil, err
		}
	}
	mine := userdata.New(dir).User(access.FromRow(user))
	taught, err := mine.SkillsMount()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(taught.Host, 0o700); err != nil {
		return nil, err
	}
	mounts := []sandbox.Mount{taught}
	for _, name := range []string{"workspace", "uploads", "outputs"} {
		mounts = append(mounts, sandbox.Mount{Host: filepath.Join(dir, name), Path: sandbox.UserData + "/" + name})
	}
	if k.space, err = sandbox.NewFiles(mounts, sandbox.FilesOptions{Make: true}); err != nil {
		return nil, err
	}
	if k.store, err = sqlstore.Open(ctx,
		sqlstore.Config{Dir: filepath.Join(dir, "store"), Features: feature.All()}); err != nil {
		return nil, errors.Join(err, k.space.Close())
	}
	k.memory = memory.New(memory.Config{Store: k.store, Now: k.clock}).For(access.FromRow(user))
	k.skills = skills.New(skills.Config{
		Store: k.store, Settings: s.cfg.SkillSettings, Now: k.clock,
		View: func(access.User) (*os.Root, error) { return mine.Skills() },
	}).For(access.FromRow(user))
	k.manager = runs.NewManager(runs.Config{Store: k.store, Owner: "bench", Build: k.build, Now: k.clock})
	return k, nil
}

func (k *setup) close() error { return errors.Join(k.store.Close(), k.space.Close()) }

// noon is the middle of the so-many-th day of the conversation, in the zone whose day the model is told.
func noon(day int) time.Time {
	return time.Date(2026, time.November, 20+day, 12, 0, 0, 0, time.Local) //nolint:gosmopolitan // as the agent does
}

// clock moves on by a little each time, so that ids grow and days change only when the script says so.
func (k *setup) clock() time.Time {
	return time.Unix(0, k.now.Add(int64(time.Millisecond)))
}

// build makes the agent of a run anew, as the server does.
func (k *setup) build(ctx context.Context, job runs.Job) (runs.Built, error) {
	if err := k.skills.Project(ctx); err != nil {
		return runs.Built{}, err
	}
	entry := config.Model{Name: "model", ContextWindow: k.window, SupportsVision: k.vision}
	c := lead.Config{
		Settings: k.cfg, Album: k.album, Skills: k.skills.Run(nil), Thread: lead.Thread{Space: place{k.space}},
		Options: lead.ReadOptions(job.Request.Config, job.Request.Context), Choice: agents.Choice{Model: entry},
		Models: lead.Models{
			Main:    lead.Candidate{Entry: entry, Guard: k.guard},
			Summary: lead.SummaryModel{Model: k.wire.Open(nowhere, "summary", &http.Client{Transport: k.side})},
		},
		Sandbox: lead.Sandbox{
			Programs: "python3, pip3, node, npm, gcc, make, perl, git, jq, sqlite3, rg, curl, wget, zip, unzip, tar, " +
				"xz",
			Isolated: true, Toolbox: k.toolbox,
		},
	}
	if err := k.place(&c, job); err != nil {
		return runs.Built{}, err
	}
	a, err := lead.Build(c)
	if err != nil {
		return runs.Built{}, err
	}
	return runs.Built{Agent: a, Config: lead.Limits(k.cfg, 0), Close: func() error { return nil }}, nil
}

// play carries out a turn and sees to it that it went as it is written.
func (k *setup) play(ctx context.Context, number int, t turn) error {
	k.now.Store(noon(t.day).Add(time.Duration(number) * time.Minute).UnixNano())
	k.sent.begin(number, t, k.say)
	k.below.begin(t.called)
	if err := k.learn(ctx, t); err != nil {
		return err
	}
	input, err := k.input(ctx, t)
	if err != nil {
		return err
	}
	options := json.RawMessage(fmt.Sprintf(`{"is_plan_mode":%t,"subagent_enabled":%t}`, t.plan, t.subagents))
	out, err := k.runs().Run(ctx, runs.Request{ThreadID: thread, Input: []message.Message{input}, Context: options},
		nil)
	switch {
	case err != nil:
		return err
	case out.Run.Status != event.StatusSuccess:
		return fmt.Errorf("the run ended as %s: %s", out.Run.Status, out.Run.Error)
	case k.sent.err != nil:
		return k.sent.err
	case len(k.sent.script) > 0:
		return fmt.Errorf("%d answers of the script were not asked for", len(k.sent.script))
	}
	return nil
}

// place gives the run its place in the conversation: it is the lead's, or that of a task which the lead has given away.
func (k *setup) place(c *lead.Config, job runs.Job) error {
	kinds := subagents.Kinds(k.cfg, true)
	if t := job.Request.Task; t != nil && job.Run.Parent != "" {
		kind, err := subagents.Find(kinds, t.Kind)
		c.Task, c.Options.Plan, c.Options.Subagents = &lead.Task{Kind: kind}, false, false
		c.Models.Main.Model = k.wire.Open(nowhere, "model", &http.Client{Transport: k.below})
		return err
	}
	c.Models.Main.Model, c.Memory = k.wire.Open(nowhere, "model", &http.Client{Transport: k.sent}), k.memory
	c.Desk, c.Program.Inside = c.NewDesk(job.Children, kinds), []agent.Middleware{observer{k.sent}}
	return nil
}

// learn changes what the user has before the turn: facts and skills.
func (k *setup) learn(ctx context.Context, t turn) error {
	for _, what := range t.learned {
		if err := k.remember(ctx, what); err != nil {
			return err
		}
	}
	for _, what := range t.skills {
		name, off := strings.CutPrefix(what, "-")
		_, err := k.skills.Enable(ctx, name, !off)
		if errors.Is(err, store.ErrNotFound) {
			err = k.install(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// install installs the user's own skill.
func (k *setup) install(ctx context.Context) error {
	raw, err := packed(letters)
	if err == nil {
		_, err = k.skills.Install(ctx, bytes.NewReader(raw), int64(len(raw)), "letters.skill")
	}
	return err
}

// say says something to the run at work.
func (k *setup) say(ctx context.Context, text string) error {
	run, err := k.runs().Say(ctx,
		runs.Request{ThreadID: thread, Input: []message.Message{message.New(message.Human, text)}})
	if err == nil && !run.IsSteer() {
		err = fmt.Errorf("no run was at work to hear %q", text)
	}
	return err
}

// remember adds a fact to the memory, or forgets one.
func (k *setup) remember(ctx context.Context, what string) error {
	known, forget := strings.CutPrefix(what, "-")
	if !forget {
		_, err := k.memory.Add(ctx, memory.Fact{Content: what, Category: "context", Confidence: 1})
		return err
	}
	list, err := k.memory.Facts(ctx, memory.Active, "", 100)
	for _, f := range list {
		if f.Content == known && err == nil {
			_, err = k.memory.Forget(ctx, f.ID)
		}
	}
	return err
}

// runs is what the user does with runs.
func (k *setup) runs() *runs.UserRuns { return k.manager.For(access.FromRow(user)) }

// input is what the user says.
func (k *setup) input(ctx context.Context, t turn) (message.Message, error) {
	if t.reply != "" {
		at, err := k.runs().Snapshot(ctx, thread, "")
		if err != nil {
			return message.Message{}, err
		}
		open, _ := clarification.Open(agent.Messages.Get(at.State))
		if len(open) != 1 {
			return message.Message{}, fmt.Errorf("%d questions wait for an answer", len(open))
		}
		return clarification.NewReply(open[0], t.reply, "").Message(open[0]), nil
	}
	m := message.New(message.Human, t.say)
	if t.files != "" {
		m.Kwargs = message.Fields{"files": json.RawMessage(t.files)}
	}
	return m, nil
}

// place is a thread's place without a sandbox: no command is run here.
type place struct{ files *sandbox.Files }

var _ sandbox.Space = place{}

func (place) ID() string              { return "" }
func (p place) Files() *sandbox.Files { return p.files }
func (place) Sandbox(context.Context) (sandbox.Sandbox, error) {
	return nil, sandbox.ErrUnavailable
}
