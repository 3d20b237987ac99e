package pudu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/app"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Program is a pudu of your own: the whole command line and server, with more beside its own. The zero value is pudu
// itself.
type Program struct {
	// Version is what "version" prints and the server tells.
	Version string
	// Tools are offered to every agent beside its own.
	Tools []tool.Tool
	// Sources have further tools, which may come and go while a run works.
	Sources []tool.Source
	// Middlewares work at their place in the chain of every agent: see docs/middlewares.md.
	Middlewares []agent.Middleware
	// Without leaves out middlewares of the chain by their names there, such as "TitleMiddleware". What such a one
	// does, nobody does then; one of Middlewares may have its name and take its place.
	Without []string
	// System is added to the system prompt of every agent, behind Pudu's own.
	System string
	// Model answers the runs that name no other model, also by --model; nil means the one that [OpenModel] finds. What
	// it can do, and its window, are what the configuration says of a model of its name, else what is known of one.
	Model model.ChatModel
	// Sandbox opens the sandboxes in which commands run; nil means the configured one. It is probed at the start, and
	// one that fails the probe is not used: then there is no tool for commands. "sandbox: {use: none}" turns it off.
	// The suite sandbox/sandboxtest tells whether it keeps what is promised.
	Sandbox sandbox.Provider
	// Sections are sections of config.yaml that are the program's own: by name, a pointer that encoding/json can fill.
	// They are filled before Start. A value $NAME is the variable's, what the file leaves open stays as it is, and a
	// key without a field is an error with file and line.
	Sections map[string]any
	// Start is called once before the first run, when the configuration is read and the store is open. It may add to
	// what is brought along, such as tools that need a section or a connection. Its error ends the program. Commands
	// that run nothing, such as "threads", do not call it.
	Start func(ctx context.Context, s *Setup) error
	// Stop is called once after the last run, if Start returned without an error. ctx ends after ten seconds.
	Stop func(ctx context.Context) error
	// Jobs are kinds of work that follows a step: tools and hooks ask for it by [tool.Env.Later].
	Jobs []JobKind
	// Events sees the events of all runs of this process, whoever asked for them: those of one run in their order, one
	// at a time, those of several at the same time. The run waits for it, so it should return at once. What was
	// committed right before a crash may not be shown; the thread has it.
	Events func(e RunEvent)
}

// Setup is what [Program.Start] may look at and add to.
type Setup struct {
	// Data is the folder that threads and files are kept in.
	Data string
	// Tools, Sources, Middlewares and Jobs are those of the program.
	Tools       []tool.Tool
	Sources     []tool.Source
	Middlewares []agent.Middleware
	Jobs        []JobKind
}

// RunEvent is an event of any run.
type RunEvent struct {
	Thread, Run string
	Event       event.Event
}

// Main runs the program on the process's own arguments, input and output, and returns the exit code.
func Main(p Program) int { return p.app().Main(p.Version) }

func (p Program) app() app.App {
	a := app.App{
		Program: lead.Program{Tools: p.Tools, Sources: p.Sources, Middlewares: p.Middlewares, Without: p.Without,
			System: p.System},
		Model: p.Model, Sandbox: p.Sandbox, Sections: p.Sections, Stop: p.Stop, Work: works(p.Jobs),
	}
	if start := p.Start; start != nil {
		a.Start = func(ctx context.Context, a *app.App, dir string) error {
			s := &Setup{Data: dir, Tools: a.Tools, Sources: a.Sources, Middlewares: a.Middlewares,
				Jobs: slices.Clone(p.Jobs)}
			err := start(ctx, s)
			a.Tools, a.Sources, a.Middlewares, a.Work = s.Tools, s.Sources, s.Middlewares, works(s.Jobs)
			return err
		}
	}
	if see := p.Events; see != nil {
		a.Events = func(run store.Run, ev event.Event) { see(RunEvent{Thread: run.ThreadID, Run: run.ID, Event: ev}) }
	}
	return a
}

// Options say which Pudu to open, and what it has beside its own. The zero value is the one that the command line
// opens.
type Options struct {
	// Version is what the server tells that [Pudu.Handler] is.
	Version string
	// Config is the path of a config.yaml; empty searches for one, as the command line does.
	Config string
	// Data is the folder that threads and files are kept in; empty means the user's.
	Data string
	// Database is the URL of a PostgreSQL, or "sqlite" for a file in Data; empty means the configuration's choice.
	Database string
	// ModelName is the name of a configured model, or "provider/model". It comes before Model; empty chooses as
	// [OpenModel] does, where there is no Model.
	ModelName string
	// Mounts are folders of this machine that the sandbox shows beside those of the thread.
	Mounts []sandbox.Mount
	// Logger is told what the log of "pudu serve" says: a line when a run starts and ends, when a call of a model
	// fails, and so on, with the ids of run and thread. nil means that slog.Default() is told of what goes wrong.
	Logger *slog.Logger
	// Server says who may call [Pudu.Handler].
	Server Server
	// The others are as in [Program].
	Tools       []tool.Tool
	Sources     []tool.Source
	Middlewares []agent.Middleware
	Without     []string
	System      string
	Model       model.ChatModel
	Sandbox     sandbox.Provider
	Sections    map[string]any
	Start       func(ctx context.Context, s *Setup) error
	Stop        func(ctx context.Context) error
	Jobs        []JobKind
	Events      func(e RunEvent)
}

func (o Options) app() app.App {
	a := Program{
		Tools: o.Tools, Sources: o.Sources, Middlewares: o.Middlewares, Without: o.Without, System: o.System,
		Model: o.Model, Sandbox: o.Sandbox, Sections: o.Sections, Start: o.Start, Stop: o.Stop, Jobs: o.Jobs,
		Events: o.Events,
	}.app()
	a.Log = o.Logger
	return a
}

var (
	// ErrLocked is the error of [Open] while another process holds the data folder.
	ErrLocked = store.ErrLocked
	// ErrNotFound says that there is no such thread, or no run of it to go on with.
	ErrNotFound = store.ErrNotFound
)

// Pudu is the whole agent in this process, with its chain, tools, sandbox and durable store. Its methods may be called
// from any goroutine; a thread runs one thing at a time.
type Pudu struct {
	local  *app.Local
	server Server
}

// Open opens it. Without a model it is an error that says how to add one. Close it after the last run has ended.
func Open(ctx context.Context, o Options) (*Pudu, error) {
	l, err := o.app().OpenLocal(ctx, cli.Options{
		Version: o.Version, Config: o.Config, Data: o.Data, Database: o.Database, Model: o.ModelName, Mounts: o.Mounts,
	})
	if err != nil {
		return nil, fmt.Errorf("open pudu: %w", err)
	}
	if l.NoModel != nil {
		return nil, errors.Join(fmt.Errorf("open pudu: %w", l.NoModel), l.Close())
	}
	return &Pudu{l, o.Server}, nil
}

// Close ends what [Pudu.Handler] began, and closes the store and the sandboxes. Runs that came by the handler are left
// to the next start.
func (p *Pudu) Close() error { return p.local.Close() }

// Notes are warnings about the configuration and the machine, for people.
func (p *Pudu) Notes() []string { return p.local.Notes }

// Task is what a run is to do.
type Task struct {
	// Thread is the conversation: 1 to 64 letters, digits, "_" or "-", as of [NewThreadID]. It is made when it is not
	// there yet. Required.
	Thread string
	// Text is what the user says.
	Text string
	// Files are put into the thread's uploads first, by name.
	Files map[string][]byte
	// Context are choices for this run by the names that clients of the server use: "model_name", "thinking_enabled",
	// "reasoning_effort", "agent_name", "is_plan_mode", "subagent_enabled", "disable_clarification" and others. Values
	// are what encoding/json can encode.
	Context map[string]any
	// Secrets are variables for the commands of skills that declare them, by name. They are sealed until the run's end,
	// and kept nowhere else.
	Secrets map[string]string
	// Answer is a person's answer to what the thread's last run has stopped to ask, such as an approval; nil is none.
	// It takes the place of Text, in the form of LangGraph's "resume".
	Answer any
	// MaxSteps bounds the calls of model and tools; 0 means the configured number.
	MaxSteps int
}

func (t Task) request(user string) (runs.Request, error) {
	r := runs.Request{ThreadID: t.Thread, UserID: user, MaxSteps: t.MaxSteps, Secrets: t.Secrets}
	err := errors.Join(userdata.CheckThreadID(t.Thread), r.Secrets.Check())
	if _, there := t.Context["secrets"]; there { // which is kept as it is
		err = errors.Join(err, errors.New("secrets stand in the context: give them as Secrets"))
	}
	if t.Answer == nil {
		r.Input = []message.Message{message.New(message.Human, t.Text)}
	} else {
		var wrong error
		r.Resume, wrong = json.Marshal(t.Answer)
		err = errors.Join(err, wrong)
	}
	if t.Context != nil {
		var wrong error
		r.Context, wrong = json.Marshal(t.Context)
		err = errors.Join(err, wrong)
	}
	return r, err
}

// NewThreadID returns an id for a new thread.
func NewThreadID() string { return id.New(time.Now()) }

// Run does a task and yields its events as they happen; the run waits for who ranges over them. A failure of the run is
// the last pair, [ErrBusy] while another one of the thread is under way. A run that stops to ask a person yields an
// event.Interrupt and ends without an error; one that stops because of ctx ends with its error. When the consumer
// leaves early the run is cancelled; what it had done is kept.
func (p *Pudu) Run(ctx context.Context, t Task) iter.Seq2[event.Event, error] {
	return ranged(ctx, func(ctx context.Context, show func(event.Event)) (runs.Outcome, error) {
		req, err := t.request(p.local.UserID)
		if err != nil {
			return runs.Outcome{}, fmt.Errorf("task: %w", err)
		}
		out, err := p.local.Runner.Run(ctx, req, t.Files, show, func(string) {})
		if errors.Is(err, store.ErrConflict) && out.Run.ID == "" {
			err = fmt.Errorf("%w: %w", ErrBusy, err)
		}
		return out, err
	})
}

// Say says something to the run that is at work on a thread, which reads it before its next call of the model, behind
// the results of its tools; a run that waits for a sub-agent reads it at once. It is durable when Say returns. Where no
// run is at work, or the run ends before it has read it, it is the next run: [Pudu.Resume] goes on with it. While the
// thread waits for an answer, the run that brings one reads it. [ErrNotFound] if there is no such thread.
func (p *Pudu) Say(ctx context.Context, thread, text string) error {
	_, err := p.local.Runner.Say(ctx, runs.Request{ThreadID: thread, UserID: p.local.UserID, MustExist: true,
		Input: []message.Message{message.New(message.Human, text)}})
	return err
}

// Resume goes on with the run of a thread that a crash has cut off, or begins the one that something said too late has
// become, as [Pudu.Run] does. [ErrNotFound] if there is none.
func (p *Pudu) Resume(ctx context.Context, thread string) iter.Seq2[event.Event, error] {
	return ranged(ctx, func(ctx context.Context, show func(event.Event)) (runs.Outcome, error) {
		left, err := p.local.Store.ListRuns(ctx, store.RunFilter{
			ThreadID: thread, Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1,
		})
		if err == nil && len(left) == 0 {
			left, err = p.local.Store.Steers(ctx, thread)
			// waits for an answer
			left = slices.DeleteFunc(left, func(s store.Run) bool { return s.NotBefore.After(time.Now()) })
		}
		if err == nil && len(left) == 0 {
			err = fmt.Errorf("an unfinished run of thread %s: %w", thread, ErrNotFound)
		}
		if err != nil {
			return runs.Outcome{}, err
		}
		return p.local.Runner.Resume(ctx, left[0], show, func(string) {})
	})
}

// ranged makes a run one whose events are ranged over.
func ranged(ctx context.Context, do func(context.Context, func(event.Event)) (runs.Outcome,
	error)) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		gone, leave := context.WithCancel(context.Background()) // nobody ranges over the events any more
		defer leave()
		events, ended := make(chan event.Event), make(chan error, 1)
		go func() { // ends with the run, which is waited for below
			defer close(events)
			out, err := do(ctx, func(ev event.Event) {
				select {
				case events <- ev:
				case <-gone.Done():
				}
			})
			ended <- errors.Join(err, failure(ctx, out))
		}()
		for ev := range events {
			if !yield(ev, nil) {
				leave()
				cancel(runs.ErrCancelled)
				for range events { // the run ends within a second
				}
				return
			}
		}
		if err := <-ended; err != nil {
			yield(event.Event{}, err)
		}
	}
}

// failure is what went wrong in a run; nil if it ended by itself, or waits for a person. A program reads the files of a
// thread whether they were presented or not.
func failure(ctx context.Context, out runs.Outcome) error {
	switch {
	case out.Run.Status == event.StatusError && out.Run.Error != store.Undelivered:
		return fmt.Errorf("run %s: %s", out.Run.ID, out.Run.Error)
	case out.Run.StopReason == store.Cancelled:
		if cause := context.Cause(ctx); cause != nil {
			return fmt.Errorf("run %s: %w", out.Run.ID, cause)
		}
		return fmt.Errorf("run %s: %w", out.Run.ID, runs.ErrCancelled)
	}
	return nil
}

// ThreadInfo is a thread in a list.
type ThreadInfo struct {
	ID, Title string
	// Status is "idle", "busy", "interrupted" (its last run stopped to ask, or was cancelled) or "error".
	Status           string
	Created, Updated time.Time
}

// Threads lists threads, the last used first. limit is 1 to 1000.
func (p *Pudu) Threads(ctx context.Context, limit, offset int) ([]ThreadInfo, error) {
	if limit < 1 || limit > 1000 {
		return nil, fmt.Errorf("list threads: limit %d is not between 1 and 1000", limit)
	}
	list, err := p.local.List.SearchThreads(ctx, store.ThreadFilter{Limit: limit, Offset: offset})
	infos := make([]ThreadInfo, len(list))
	for i, t := range list {
		infos[i] = ThreadInfo{ID: t.ID, Title: t.Title, Status: t.Status, Created: t.CreatedAt, Updated: t.UpdatedAt}
	}
	return infos, err
}

// State returns what a thread holds after its last step: the conversation is agent.Messages.Get of it, and the channel
// of a middleware reads its own part. [ErrNotFound] if there is no such thread.
func (p *Pudu) State(ctx context.Context, thread string) (state.State, error) {
	s, err := p.local.Snapshot(ctx, thread)
	return s.State, err
}

// maxFile bounds one file that goes in or out.
const maxFile = 512 << 20

// Upload puts a file into a thread's uploads, in the place of one of that name, and returns the path that the agent
// knows. The next run is told of it. Files are at most 512 MiB.
func (p *Pudu) Upload(thread, name string, content io.Reader) (string, error) {
	path := sandbox.Uploads + "/" + name
	if err := p.local.Upload(thread, name, content, maxFile); err != nil {
		return "", fmt.Errorf("upload %s: %w", name, err)
	}
	return path, nil
}

// ReadFile reads a file of a thread by the path that the agent knows, such as one that it has presented. One that is
// not there is fs.ErrNotExist. Files are at most 512 MiB.
func (p *Pudu) ReadFile(ctx context.Context, thread, path string) ([]byte, error) {
	return p.local.Runner.ReadFile(ctx, thread, path, maxFile)
}

// DeleteThread removes a thread with its files. [ErrBusy] while it runs.
func (p *Pudu) DeleteThread(ctx context.Context, thread string) error {
	err := p.local.Delete(ctx, thread)
	if errors.Is(err, store.ErrConflict) {
		err = fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}
