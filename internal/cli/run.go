package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
)

// maxTask bounds a task, given as argument or on standard input.
const maxTask = 1 << 20

type runFlags struct {
	thread   string
	cont     bool
	resume   bool
	json     bool
	files    []string
	mounts   []string
	out      string
	maxSteps int
	choices  choices
	secrets  []string // as they were given
	given    secrets.Values
	ownModel bool // the custom agent's model answers, unless it has none
	approve  bool
	reject   string // why, if rejects
	rejects  bool
	scope    string // of approve
	pattern  string
	// temporary says that the thread is a new one that leaves nothing behind.
	temporary bool
}

func runCommand(app App, o *Options, stdio IO) *cobra.Command {
	var f runFlags
	var read func() error
	cmd := &cobra.Command{
		Use:   "run [TASK]",
		Short: "Carry out a task and print the answer",
		Long: "Carry out a task and print the answer on standard output; everything else goes to standard error.\n" +
			"Without TASK, or with -, the task is read from standard input.\n\n" +
			"A run that a crash or a kill cut off goes on where it was with --resume; its argument is the thread\n" +
			"(without one: the last unfinished run). See pudu runs for what is unfinished.\n\n" +
			"While it works you can type: each line is said to it, and read before its next step.\n\n" +
			"A call that the configuration wants approved is shown, and runs when you allow it. Where nobody can be " +
			"asked the\n" +
			"exit code is 3, and --approve or --reject WHY with --thread answers later. The same flags as before " +
			"keep the agent\n" +
			"the same. --approve --scope thread (or always) also allows later calls like it, until pudu approvals " +
			"revoke.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := read(); err != nil {
				return err
			}
			f.ownModel = f.choices.Agent != "" && o.Model == ""
			f.rejects = cmd.Flags().Changed("reject")
			var err error
			taskOnInput := !f.approve && !f.rejects && !f.resume && (len(args) == 0 || args[0] == "-")
			if f.given, err = readSecrets(stdio, f.secrets, taskOnInput); err != nil {
				return err
			}
			switch {
			case !f.approve && (f.scope != "" || f.pattern != ""):
				return usageError("--scope and --pattern go with --approve")
			case f.temporary && (f.cont || f.resume || f.approve || f.rejects):
				return usageError("--temporary begins a new thread; it takes no --continue, --resume, --approve and " +
					"--reject")
			case f.approve || f.rejects:
				return decideRun(cmd.Context(), app, *o, f, stdio, args)
			case f.resume:
				return resumeRun(cmd.Context(), app, *o, f, stdio, args)
			}
			return runTask(cmd.Context(), app, *o, f, stdio, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.thread, "thread", "", "continue the thread `ID`, or start it")
	flags.BoolVar(&f.temporary, "temporary", false,
		"on a new thread that is in no list and search, and goes a day after its last use")
	flags.BoolVar(&f.cont, "continue", false, "continue the last used thread")
	flags.BoolVar(&f.resume, "resume", false, "go on with an unfinished run instead of a new task")
	flags.StringVar(&o.Model, "model", "", "model `NAME` of the configuration, or provider/model")
	read = f.choices.flags(cmd)
	flags.BoolVar(&f.approve, "approve", false, "allow the calls of the thread that wait for approval, and go on")
	flags.StringVar(&f.scope, "scope", "", "with --approve: `once` (the default), thread or always")
	flags.StringVar(&f.pattern, "pattern", "",
		"with --scope: for calls like `TEXT`, such as \"git status*\", instead of exactly those")
	flags.StringVar(&f.reject, "reject", "", "refuse them, tell the agent `WHY`, and go on")
	flags.BoolVar(&f.json, "json", false, "print the events as JSON lines instead of the answer")
	flags.StringArrayVar(&f.files, "file", nil, "put a copy of `FILE` into the uploads (repeatable)")
	flags.StringArrayVar(&f.mounts, "mount", nil,
		"show `DIR[:rw]` at /mnt/<its name>, read-only unless :rw (repeatable)")
	flags.StringArrayVar(&f.secrets, "secret",
		nil,
		"let skills use the secret `NAME`: the environment has its value, or you are asked; NAME=- reads it "+
			"from\nstandard input (repeatable)")
	flags.StringVar(&f.out, "out", ".", "`DIR` that gets copies of the presented files; empty for none")
	adoptFlag(flags, o)
	serverFlags(flags, o)
	flags.IntVar(&f.maxSteps, "max-steps", 0, "bound on model and tool steps (default 1000)")
	return cmd
}

// runTask is pudu run: it opens Pudu, runs the task, and as long as the agent asks and a person is there to answer,
// runs the answer as the next turn.
func runTask(ctx context.Context, app App, o Options, f runFlags, stdio IO, args []string) error {
	task := ""
	if o.Model != config.Demo || len(args) > 0 { // the demonstration has a task of its own
		var err error
		if task, err = readTask(stdio, args); err != nil {
			return err
		}
	}
	return onThread(ctx, app, o, f, stdio, func(t *turn) error {
		if err := t.prepare(task); err != nil {
			return err
		}
		if err := t.needModel(ctx, app, t.options); err != nil {
			return err
		}
		if err := t.announce(ctx); err != nil {
			return err
		}
		if err := t.makeTemporary(ctx); err != nil {
			return err
		}
		return t.converse(ctx, t.carryOut)
	})
}

// onThread opens Pudu for a turn on the thread that the flags name.
func onThread(ctx context.Context, app App, o Options, f runFlags, stdio IO, do func(t *turn) error) (err error) {
	if o.Mounts, err = parseMounts(f.mounts); err != nil {
		return err
	}
	session, err := openToRun(ctx, app, o, stdio)
	if err != nil {
		return err
	}
	t := &turn{session: session, flags: f, io: stdio, options: o}
	defer func() { closeSession(t.session) }()
	if err := t.chooseThread(ctx); err != nil {
		return err
	}
	return do(t)
}

// makeTemporary makes the thread of the run before the run does, if it is to be a temporary one.
func (t *turn) makeTemporary(ctx context.Context) error {
	if !t.flags.temporary {
		return nil
	}
	now := time.Now()
	err := t.session.Create(ctx, store.Thread{ID: t.thread, Marks: store.Temporary, CreatedAt: now, UpdatedAt: now})
	if errors.Is(err, store.ErrConflict) {
		return usageError("--temporary begins a new thread, and %s is there already; leave one of the two away",
			t.thread)
	}
	return failedWith(err)
}

// announce says that a thread is a new one although its id was given.
func (t *turn) announce(ctx context.Context) error {
	if t.flags.thread == "" {
		return nil
	}
	_, err := t.session.List.Thread(ctx, t.thread)
	if errors.Is(err, store.ErrNotFound) {
		t.io.tell(t.io.errStyle().yellow, "! there is no thread "+t.thread+" yet: this run begins it")
		return nil
	}
	return failedWith(err)
}

// needModel returns an error if there is no model. Here, a person at a terminal can paste a key first: then Pudu is
// opened once more.
func (t *turn) needModel(ctx context.Context, app App, o Options) error {
	missing := t.session.NoModel
	if missing == nil {
		return nil
	}
	missing = fmt.Errorf("%w\nTo see what Pudu does without one, play the scripted demonstration, which puts its "+
		"files\n"+
		"into this folder: %s --model %s", missing, t.again(), config.Demo)
	if !t.io.InTTY || t.session.Store == nil { // a key that is kept here does not help a server elsewhere
		return missing
	}
	kept, err := offerKey(app, missing, t.io)
	if err != nil || !kept {
		return err
	}
	closeSession(t.session)
	if t.session, err = openToRun(ctx, app, o, t.io); err != nil {
		return err
	}
	return t.session.NoModel
}

// closeSession leaves its error alone: what a run has done is committed before it ends.
func closeSession(s *Session) { _ = s.Close() }

func readTask(stdio IO, args []string) (string, error) {
	task := strings.Join(args, " ")
	if len(args) == 0 && stdio.InTTY {
		return "", usageError("no task; try: pudu run \"Find the three best months in sales.csv\" --file sales.csv")
	}
	if len(args) == 0 || task == "-" {
		raw, err := io.ReadAll(io.LimitReader(stdio.In, maxTask+1))
		if err != nil {
			return "", usageError("read the task from standard input: %w", err)
		}
		task = string(raw)
	}
	switch task = strings.TrimSpace(task); {
	case task == "":
		return "", usageError("the task is empty; give it as an argument or on standard input")
	case len(task) > maxTask:
		return "", usageError("the task is larger than %d bytes; put the text into a file and pass it with --file",
			maxTask)
	}
	return task, nil
}

// parseMounts reads DIR[:rw] flags.
func parseMounts(specs []string) ([]sandbox.Mount, error) {
	var mounts []sandbox.Mount
	seen := map[string]bool{"user-data": true, "folder": true, "skills": true, "acp-workspace": true}
	for _, spec := range specs {
		dir, writable := strings.CutSuffix(spec, ":rw")
		dir = strings.TrimSuffix(dir, ":ro")
		host, err := filepath.Abs(dir)
		if err != nil {
			return nil, usageError("--mount %s: %w", spec, err)
		}
		if st, err := os.Stat(host); err != nil || !st.IsDir() {
			return nil, usageError("--mount %s: %s is not a folder", spec, host)
		}
		name := filepath.Base(host)
		if seen[name] || name == "/" {
			return nil, usageError("--mount %s: the name /mnt/%s is taken; mount a folder with another name", spec,
				strings.Trim(name, "/"))
		}
		seen[name] = true
		mounts = append(mounts, sandbox.Mount{Host: host, Path: "/mnt/" + name, ReadOnly: !writable})
	}
	return mounts, nil
}

// turn is one pudu run: a thread and what is said on it.
type turn struct {
	session *Session
	flags   runFlags
	io      IO
	options Options
	thread  string
	input   []message.Message
	answers json.RawMessage   // to calls that wait, by interrupt id; then there is no input
	uploads map[string][]byte // not yet written, by name
	summary string            // of the last run
	said    []string          // to the run at work, by id, as far as it is not known to be read
}

func (t *turn) chooseThread(ctx context.Context) error {
	switch {
	case t.flags.cont && t.flags.thread != "":
		return usageError("--continue and --thread exclude each other")
	case t.flags.thread != "":
		t.thread = t.flags.thread
	case t.flags.cont:
		last, err := t.session.List.SearchThreads(ctx, store.ThreadFilter{Limit: 1})
		if err != nil {
			return &codeError{ExitFailed, err}
		}
		if len(last) == 0 {
			return usageError("there is no thread to continue; run a task without --continue first")
		}
		t.thread = last[0].ID
	default:
		t.thread = id.New(time.Now())
	}
	return nil
}

// prepare checks the thread and the files, and makes the human message of the task. The demonstration brings its own
// task and file.
func (t *turn) prepare(task string) error {
	if err := userdata.CheckThreadID(t.thread); err != nil {
		return usageError("thread %q: %w", t.thread, err)
	}
	demo := t.session.Demo
	switch {
	case demo != nil && (task != "" || len(t.flags.files) > 0):
		return usageError("%s is the scripted demonstration, which has a task and a file of its own: leave yours away "+
			"(%s --model %[1]s), or name another model with --model", config.Demo, t.again())
	case demo == nil && task == "":
		return usageError("no task; try: pudu run \"Find the three best months in sales.csv\" --file sales.csv")
	case demo != nil:
		task = demo.Task
	}
	t.uploads = make(map[string][]byte, len(t.flags.files))
	for _, path := range t.flags.files {
		name := filepath.Base(path)
		if _, twice := t.uploads[name]; twice {
			return usageError("--file %s: two files are named %s; rename one", path, name)
		}
		raw, err := readUpload(path)
		if err != nil {
			return err
		}
		t.uploads[name] = raw
	}
	if demo != nil {
		t.uploads[demo.Name] = demo.File
	}
	input, err := t.mention(message.New(message.Human, task))
	t.input = []message.Message{input}
	return err
}

// converse runs the turn, and the next ones while the agent asks and a person answers.
func (t *turn) converse(ctx context.Context, do carry) error {
	t.header()
	for {
		out, err := t.execute(ctx, do)
		if errors.Is(err, runs.ErrCancelled) { // before there was a run
			return &codeError{ExitCancelled, err}
		}
		if err != nil {
			return &codeError{ExitFailed, err}
		}
		again, err := t.answer(ctx, out)
		if err != nil {
			return err
		}
		if again {
			do = t.carryOut
			continue
		}
		next, more, err := t.unread(ctx, out)
		if err != nil {
			return &codeError{ExitFailed, err}
		}
		if !more {
			return t.finish(ctx, out)
		}
		do = t.resume(next)
	}
}

// answer has a person answer what the agent asks at the end of a run; false if it asks nothing.
func (t *turn) answer(ctx context.Context, out runs.Outcome) (again bool, err error) {
	t.input, t.answers = nil, nil
	switch {
	case out.Run.Status == event.StatusSuccess:
		questions := questionsOf(out.State)
		if len(questions) == 0 {
			return false, nil
		}
		t.input, err = t.ask(questions)
	case out.Run.Status == event.StatusInterrupted && out.Run.StopReason == "":
		asked, errAsked := t.waiting(ctx)
		if errAsked != nil || len(asked) == 0 { // at a breakpoint
			return false, errAsked
		}
		t.answers, err = t.approve(asked)
	default:
		return false, nil
	}
	return err == nil, err
}

func (t *turn) header() {
	look := t.io.errStyle()
	for _, note := range t.session.Notes {
		t.io.tell(look.yellow, "! "+note)
	}
	t.io.tell(look.dim, t.session.Why)
	who := "model " + t.session.Model
	if t.flags.ownModel {
		who = "agent " + t.flags.choices.Agent
	}
	t.io.tell(look.dim, fmt.Sprintf("%s  sandbox %s  thread %s", who, t.session.Sandbox, t.thread))
	if demo := t.session.Demo; demo != nil {
		t.io.tell(look.yellow, "! the scripted demonstration: the model's turns were written in advance; the loop, "+
			"the sandbox, the tools and the store are real")
		t.io.tell(look.dim, "task  "+demo.Task)
	}
}

// carry carries out a run, new or unfinished.
type carry func(ctx context.Context, w *watcher, show func(event.Event)) (runs.Outcome, error)

// resume is an unfinished run.
func (t *turn) resume(run store.Run) carry {
	return func(ctx context.Context, w *watcher, show func(event.Event)) (runs.Outcome, error) {
		return t.session.Runner.Resume(ctx, run, show, w.note)
	}
}

// carryOut is the run of what the person said.
func (t *turn) carryOut(ctx context.Context, w *watcher, show func(event.Event)) (runs.Outcome, error) {
	uploads, model := t.uploads, t.session.Model
	t.uploads = nil
	if t.flags.ownModel {
		model = ""
	}
	return t.start(ctx, runs.Request{
		ThreadID: t.thread, UserID: t.session.UserID, Input: t.input,
		Model: model, MaxSteps: t.flags.maxSteps, Resume: t.answers, Context: t.flags.choices.context(),
		Secrets: t.flags.given,
	}, uploads, w, show)
}

// start begins a run and follows it.
func (t *turn) start(ctx context.Context, req runs.Request, uploads map[string][]byte, w *watcher,
	show func(event.Event)) (runs.Outcome, error) {
	out, err := t.session.Runner.Run(ctx, req, uploads, show, w.note)
	if errors.Is(err, store.ErrConflict) && out.Run.ID == "" {
		return out, fmt.Errorf("thread %s has an unfinished run; go on with it first: %s --resume %[1]s", t.thread,
			t.again())
	}
	return out, err
}

// execute carries out one turn. The first interrupt cancels it, the second ends the program at once.
func (t *turn) execute(ctx context.Context, do carry) (runs.Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	w := newWatcher(t.io, t.flags.json)
	if t.io.log != nil {
		defer t.io.log.to(w.note)()
	}
	go t.interrupts(cancel, w, done)
	show, stop := t.listen(ctx, w)
	out, err := do(ctx, w, show)
	stop()
	w.close(out)
	t.summary = w.summary(out)
	if err != nil && out.Run.Active() {
		err = fmt.Errorf("%w\nthe run is unfinished; go on with: %s --resume %s", err, t.again(), t.thread)
	}
	return out, err
}

// again is the command that comes back to this Pudu.
func (t *turn) again() string { return t.io.runCommand(t.options) }

func (t *turn) interrupts(cancel context.CancelCauseFunc, w *watcher, done <-chan struct{}) {
	select {
	case <-t.io.Signals:
		w.note("cancelling … (Ctrl-C again ends at once)")
		cancel(runs.ErrCancelled)
	case <-done:
		return
	}
	select {
	case <-t.io.Signals:
		os.Exit(ExitCancelled)
	case <-done:
	}
}
