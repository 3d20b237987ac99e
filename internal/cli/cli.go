// Package cli is the terminal: the commands of pudu and how a run looks while it happens. It knows runs and the store;
// what they are made of comes from the assembly through [App].
//
// The answer goes to standard output, everything else to standard error.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/archive"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/model/probe"
	"github.com/pudu-ai/pudu/internal/replay"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// Exit codes.
const (
	ExitOK        = 0
	ExitFailed    = 1   // the run, or the command, failed
	ExitUsage     = 2   // wrong flags, arguments or configuration
	ExitWaiting   = 3   // the agent asked something, and nobody is there to answer
	ExitCancelled = 130 // Ctrl-C
)

// Options are the flags that say which Pudu to open.
type Options struct {
	Config string // --config: path of a config.yaml; empty searches
	Data   string // --data: data folder; empty means the default
	// Database is --database: the URL of a PostgreSQL, or "sqlite"; empty means the configuration's.
	Database string
	Model    string          // --model: name or provider/model; empty chooses
	Mounts   []sandbox.Mount // --mount
	// Adopt is --adopt: begin a new database in a data folder that has files of threads and no database any more.
	Adopt bool
	// Begin makes the data folder if there is none.
	Begin bool
	// ReadOnly opens the store for looking only: no lock is taken, no model and no sandbox are set up.
	ReadOnly bool
	// Note hears of what opening waits for; nil hears nothing.
	Note func(string)
	// Server is --server, the URL of a server to work with instead of what is here; Token is --token.
	Server, Token string

	// Addr is --addr of serve: HOST:PORT; empty chooses. Insecure lets everybody in who reaches it. NATS is --nats, the
	// URL of the bus to other servers.
	Addr     string
	Insecure bool
	NATS     string
	// Version is the program's.
	Version string
}

// App makes what the commands work with.
type App interface {
	// Connect opens a session at the server that the options name, or else the environment; nil if neither does.
	Connect(ctx context.Context, o Options) (*Session, error)
	// Reach has do work with the API as the user has it: of the server that the options name, of the one that holds the
	// data folder, else of this process. Without a data folder it is fs.ErrNotExist, unless it is to begin one.
	Reach(ctx context.Context, o Options, do func(*client.Client) error) error
	// Open sets everything up for runs. If a server holds the data folder, the session works through that server.
	Open(ctx context.Context, o Options) (*Session, error)
	// Serve carries out what is unfinished and what sessions hand in, until ctx ends. ready is called when it can.
	Serve(ctx context.Context, o Options, ready func(*Session)) error
	// Reload has the server of the data folder read its configuration again. notes are warnings, restart names what has
	// changed and counts at the next start only.
	Reload(ctx context.Context, o Options) (notes, restart []string, err error)
	// Bench opens an empty Pudu in a temporary folder for a replay of the recording by the player; note gets warnings.
	Bench(ctx context.Context, o Options, r *replay.Recording, p *replay.Player, note func(string)) (*replay.Bench,
		error)
	// Backup writes an archive of all threads and their files; a server may be at work.
	Backup(ctx context.Context, o Options, w io.Writer) (archive.Summary, error)
	// Restore reads such an archive into an empty data folder and an empty database, whole or not at all.
	Restore(ctx context.Context, o Options, r io.Reader) (archive.Summary, error)
	// Collect removes what has outlived its use; dryRun only says what that would be.
	Collect(ctx context.Context, o Options, dryRun bool) (Collected, error)
	// DeleteUser removes all that a user has, here or by the server that holds the data folder.
	DeleteUser(ctx context.Context, o Options, user string) (store.Forgotten, error)
	// Record has the audit log tell what a command has done beside the store. What keeps it from that is logged.
	Record(ctx context.Context, o Options, verb audit.Verb, kind, object string)
	// Audit returns rows of the audit log, the newest first.
	Audit(ctx context.Context, o Options, f audit.Filter) ([]audit.Entry, error)
	// Toolbox returns the Python packages of the data folder, which a server may be using, and what asks the sandbox
	// for its Python.
	Toolbox(o Options) (*toolbox.Box, func(ctx context.Context) (toolbox.Target, error), error)
	// TokensFile is the file of the named tokens that callers of the server bring.
	TokensFile(o Options) (path string, err error)
	// Doctor examines the machine, the configuration and what is stored. It reports each check as soon as it is known.
	Doctor(ctx context.Context, o Options, report func(Check))
	// Models lists the models that runs can use; ask says to find out whether each of them answers.
	Models(ctx context.Context, o Options, ask bool) ([]ModelInfo, error)
	// ExamineModel has the model that the options choose do ten tiny tasks. done gets each result as soon as it is
	// known.
	ExamineModel(ctx context.Context, o Options, done func(probe.Result)) (probe.Examined, error)
	// Keep stores a key for later sessions and returns the file that holds it.
	Keep(name, value string) (file string, err error)
	// Key returns the name of the environment variable for a key that looks like this one; empty if it looks like none.
	Key(value string) (name string)
}

// Runner carries out runs: this process, or a server. Cancelling ctx with runs.ErrCancelled ends the run as cancelled.
// What keeps it from showing the run is told to note.
type Runner interface {
	// Run admits the request, puts the files, by name, into the thread's uploads, and carries the run out.
	Run(ctx context.Context, req runs.Request, uploads map[string][]byte, show func(event.Event),
		note func(string)) (runs.Outcome, error)
	// Resume goes on with an unfinished run, or follows it if somebody else does.
	Resume(ctx context.Context, run store.Run, show func(event.Event), note func(string)) (runs.Outcome, error)
	// Say says the request's input to the run at work on its thread, and returns the id that it has until that run
	// takes it. If that has ended meanwhile it is the id of the run that comes.
	Say(ctx context.Context, req runs.Request) (id string, err error)
	// Said is what became of it: at its end if a run has taken it, active if it waits or is a run itself.
	Said(ctx context.Context, threadID, id string) (store.Run, error)
	// TakeBack removes it; store.ErrConflict if a run has taken it, or it is one.
	TakeBack(ctx context.Context, threadID, id string) error
	// ReadFile reads a file of a thread, by the path that the agent knows, of at most limit bytes. One that is not
	// there is fs.ErrNotExist.
	ReadFile(ctx context.Context, threadID, path string, limit int64) ([]byte, error)
}

// Lister tells which threads and runs a user has. It is a store.UserData, or a client of a server.
type Lister interface {
	Thread(ctx context.Context, id string) (store.Thread, error)
	SearchThreads(ctx context.Context, f store.ThreadFilter) ([]store.Thread, error)
	ListRuns(ctx context.Context, f store.RunFilter) ([]store.Run, error)
}

// Session is an open Pudu.
type Session struct {
	Runner Runner
	List   Lister
	Store  store.UserData // to read; nil at a server elsewhere
	UserID string
	// Questions are what the thread's calls ask a person before they are made, in the order of asking.
	Questions func(ctx context.Context, threadID string) ([]event.Interrupt, error)
	// Create makes a thread; store.ErrConflict if there is one of its id.
	Create func(ctx context.Context, t store.Thread) error
	// Owner tells of an unfinished run who works on it, such as "process 4711"; empty if nobody does.
	Owner func(ctx context.Context, run store.Run) (string, error)
	// Address is where a server listens, as http://HOST:PORT; Data is its data folder. Examples are commands that try
	// it; where Token is set they need PUDU_TOKEN.
	Address, Data string
	Examples      []string
	Token         bool
	// Model is "provider/model" and Why how it was chosen; Sandbox names the provider.
	Model, Why, Sandbox string
	// Toolbox has the Python packages of a server's sandboxes; nil for other sessions, and where no code is run.
	Toolbox *toolbox.Kit
	// NoModel says that there is no model for runs that name none, and how to add one; it is a config.ErrNoModel. nil
	// if there is one.
	NoModel error
	// Notes are warnings to show once.
	Notes []string
	// Demo is the task and the file of the demonstration, if that answers the runs; else nil.
	Demo *Demo
	// API are the routes, of the server that the session works through, or of this process.
	API func() *client.Client
	// Files opens what there is of a thread's files, to read; nil if it has none. The caller closes them. It is there
	// in a session that was opened for reading.
	Files func(t store.Thread) (*sandbox.Files, error)
	Close func() error
}

// Demo is a task that shows what Pudu does. The scripted demonstration does no other.
type Demo struct {
	Task string
	Name string
	File []byte
}

// open opens a session at a server, if one is named, else here.
func open(ctx context.Context, app App, o Options) (*Session, error) {
	if s, err := app.Connect(ctx, o); s != nil || err != nil {
		return s, err
	}
	return app.Open(ctx, o)
}

// settle is [App.Reach] for a command that may be the first to work there.
func settle(cmd *cobra.Command, app App, o *Options, do func(*client.Client) error) error {
	at := *o
	at.Begin = true
	return app.Reach(cmd.Context(), at, do)
}

// adoptFlag is the flag of a command that may begin a database.
func adoptFlag(flags interface {
	BoolVar(into *bool, name string, value bool, usage string)
}, o *Options,
) {
	flags.BoolVar(&o.Adopt, "adopt", false,
		"begin a new database in a data folder that has files of threads but no database any more")
}

// openToRun opens a session for a run. Where another process is at work it waits, until an interrupt.
func openToRun(ctx context.Context, app App, o Options, stdio IO) (*Session, error) {
	ctx, stop := interruptible(ctx, stdio, runs.ErrCancelled)
	defer stop()
	o.Note = func(text string) { fmt.Fprintln(stdio.Err, stdio.errStyle().yellow("… "+inert.Line(text))) }
	s, err := open(ctx, app, o)
	if errors.Is(err, runs.ErrCancelled) {
		return nil, &codeError{ExitCancelled, err}
	}
	return s, err
}

// serverFlags are the flags of a command that works with a server, too.
func serverFlags(flags interface {
	StringVar(into *string, name, value, usage string)
}, o *Options,
) {
	flags.StringVar(&o.Server, "server",
		"",
		"work with the server at `URL` instead of here (default: $PUDU_SERVER, unless --config, --data or --database "+
			"is given)")
	flags.StringVar(&o.Token, "token", "",
		"`TOKEN` that the server asks for (default, and better, as others can see flags: $PUDU_TOKEN)")
}

// Check is one finding of the doctor.
type Check struct {
	Name   string
	OK     bool
	Detail string
	// Warning says that what is OK is worth a look.
	Warning bool
	// Remedy says what to do; empty when there is nothing.
	Remedy string
}

// Collected is what was removed, or would be.
type Collected struct {
	store.Collected

	// Folders are thread folders without a thread, and what was left of cut-off work, below the data folder.
	Folders []string
	// Logs are outputs of commands and other long results, LogBytes their size; Leftovers are files whose writing was
	// cut off. They are not counted beforehand.
	Logs, Leftovers int
	LogBytes        int64
	// Failed says what could not be done, and why.
	Failed []string
}

// IO is where a command reads and writes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	// InTTY, OutTTY and ErrTTY say which of them are terminals.
	InTTY, OutTTY, ErrTTY bool
	// Plain asks for no colours on a terminal, Still for no lines that change.
	Plain, Still bool
	// Width of the terminal in columns, 0 means 100; Height in rows, 0 means 24.
	Width, Height int
	// Secret reads a line without showing it; nil reads it like any other.
	Secret func() (string, error)
	// Program is how this program was called, such as bin/pudu; empty means pudu.
	Program string
	// Signals delivers interrupts (Ctrl-C).
	Signals <-chan os.Signal

	log *sink // of this process; nil is none
	// typed are the lines of In, one after the other, where a run may read them; nil reads them from In.
	typed *typist
}

// runCommand is the command that runs something with the same Pudu, as a shell takes it.
func (stdio IO) runCommand(o Options) string {
	command := stdio.program() + " run"
	for _, flag := range []struct{ name, value string }{{"server", o.Server}, {"config", o.Config}, {"data", o.Data}} {
		if flag.value != "" {
			command += " --" + flag.name + " " + Quote(flag.value)
		}
	}
	return command
}

// program is how a shell calls this program.
func (stdio IO) program() string { return Quote(cmp.Or(stdio.Program, "pudu")) }

// Quote is a word as a shell takes it.
func Quote(word string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	if word != "" && strings.Trim(word, harmless) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// readLine reads one line, without its end. The end of input is an empty line.
func (stdio IO) readLine() string {
	text, _ := stdio.line()
	return text
}

// hiddenLine reads a line by Secret, or like any other.
func (stdio IO) hiddenLine() (string, error) {
	if stdio.Secret == nil {
		return stdio.readLine(), nil
	}
	return stdio.Secret()
}

// line is the next line of the person, see nextLine.
func (stdio IO) line() (string, error) {
	if stdio.typed == nil {
		return stdio.nextLine()
	}
	if line, more := <-stdio.typed.next(stdio.nextLine); more {
		return line.text, line.err
	}
	return "", io.EOF
}

// nextLine reads one line, without its end and the blanks around it. The last one may lack its end; after it comes
// io.EOF.
func (stdio IO) nextLine() (string, error) {
	text, err := bufio.NewReader(stdio.In).ReadString('\n') // the buffer is there already: Main made it
	text = strings.TrimSpace(text)
	if errors.Is(err, io.EOF) && text != "" {
		err = nil
	}
	return text, err
}

// codeError is an error with its exit code.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &codeError{ExitUsage, fmt.Errorf(format, args...)}
}

// Told marks an error that the person, or the log, was told already: only its exit code is left.
func Told(err error) error {
	code := ExitUsage
	if coded, ok := errors.AsType[*codeError](err); ok {
		code = coded.code
	}
	return &codeError{code, errors.New("")}
}

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, app App, version string, stdio IO, args []string) int {
	stdio.In = bufio.NewReader(stdio.In) // one buffer for all questions
	if stdio.InTTY {
		stdio.typed = &typist{}
	}
	defer stdio.logToPerson()()
	root := command(app, version, stdio) //nolint:contextcheck // cobra hands the context on
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	var coded *codeError
	if !errors.As(err, &coded) || errors.Is(err, config.ErrNoModel) || errors.Is(err, agents.ErrNotFound) {
		coded = &codeError{ExitUsage, err}
	}
	if msg := coded.Error(); msg != "" {
		stdio.tell(nil, "pudu: "+msg)
	}
	return coded.code
}

func command(app App, version string, stdio IO) *cobra.Command {
	root := &cobra.Command{
		Use:           "pudu",
		Short:         "A self-hosted super agent in one program",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(stdio.In)
	root.SetOut(stdio.Out)
	root.SetErr(stdio.Err)
	root.CompletionOptions.HiddenDefaultCmd = true
	o := Options{Version: version}
	root.PersistentFlags().StringVar(&o.Config, "config", "",
		"configuration `FILE` (default: $PUDU_CONFIG, then ./config.yaml, then none)")
	root.PersistentFlags().StringVar(&o.Data, "data", "",
		"data `DIR` (default: $PUDU_DATA, then /var/lib/pudu for root, then ~/.local/share/pudu)")
	root.PersistentFlags().StringVar(&o.Database, "database", "",
		"PostgreSQL `URL` that keeps the state, instead of SQLite in the data folder (default: $PUDU_DATABASE)")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("database") && strings.TrimSpace(o.Database) == "" { // such as "$NAME" without a value
			return usageError("--database is empty: write postgres://USER:PASSWORD@HOST:5432/DATABASE, or leave it " +
				"away")
		}
		return nil
	}
	root.AddCommand(
		runCommand(app, &o, stdio),
		serveCommand(app, &o, stdio),
		reloadCommand(app, &o, stdio),
		threadsCommand(app, &o, stdio),
		foldersCommand(app, &o, stdio),
		approvalsCommand(app, &o, stdio),
		searchCommand(app, &o, stdio),
		memoryCommand(app, &o, stdio),
		skillsCommand(app, &o, stdio),
		agentsCommand(app, &o, stdio),
		profileCommand(app, &o, stdio),
		newsCommand(app, &o, stdio),
		sessionsCommand(app, &o, stdio),
		usersCommand(app, &o, stdio),
		runsCommand(app, &o, stdio),
		exportCommand(app, &o, stdio),
		backupCommand(app, &o, stdio),
		restoreCommand(app, &o, stdio),
		gcCommand(app, &o, stdio),
		toolboxCommand(app, &o, stdio),
		replayCommand(app, &o, stdio),
		tokenCommand(app, &o, stdio),
		auditCommand(app, &o, stdio),
		jobsCommand(app, &o, stdio),
		doctorCommand(app, &o, stdio),
		modelsCommand(app, &o, stdio),
		&cobra.Command{
			Use: "version", Short: "Print the version", Args: cobra.NoArgs,
			Run: func(*cobra.Command, []string) { fmt.Fprintln(stdio.Out, "pudu "+version) },
		},
	)
	return root
}

// interruptible is a context that the first interrupt ends, with why as its cause.
func interruptible(ctx context.Context, stdio IO, why error) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-stdio.Signals:
			cancel(why)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}
