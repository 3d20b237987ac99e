// Package shell holds the bash tool: it runs a command in the thread's sandbox and tells the model what came of it. The
// output that the model sees is bounded; when there is more, all of it is kept in a file that the model can search.
//
// While a command runs the file (log.go) is also what is left of its output if this process is killed; inspect.go tells
// the model of it when the run goes on. pudu gc removes old ones.
package shell

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/lib/redact"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// Config is what the tool works with and its bounds.
type Config struct {
	// Space is the thread's place.
	Space sandbox.Space
	// MaxChars bounds the output that the model sees; 0 means 20,000, a negative number no bound but that of the log.
	MaxChars int
	// MaxLog bounds the file that keeps the output of one command, in bytes; 0 means 32 MiB.
	MaxLog int64
	// Timeout bounds a command; 0 means [sandbox.DefaultTimeout].
	Timeout time.Duration
	// Env adds variables ("NAME=value") to every command.
	Env []string
	// Secrets are variables for the command of a call, and Redact takes the values of all there are out of what is
	// shown and kept of outputs. A command with secrets has a sandbox for itself, so that no other command finds them.
	// nil is none.
	Secrets func(ctx context.Context, call *tool.Call) ([]string, error)
	Redact  redact.Redactor
	// Log hears of failures of the sandbox itself, whose details the model must not see; nil discards.
	Log *slog.Logger
}

//go:embed bash.md
var description string

type bashArgs struct {
	Description string `json:"description" doc:"Why you run it, in a few words."`
	Command     string `json:"command" doc:"The bash script to run."`
}

// New returns the bash tool.
func New(c Config) tool.Tool {
	if c.MaxChars == 0 {
		c.MaxChars = 20_000
	}
	if c.MaxLog <= 0 {
		c.MaxLog = 32 << 20
	}
	if c.MaxChars < 0 {
		c.MaxChars = int(c.MaxLog) // characters are not more than bytes
	}
	if c.Timeout <= 0 {
		c.Timeout = sandbox.DefaultTimeout
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	const grace = 30 * time.Second // the command's own limit comes first: it keeps what was printed
	spec := tool.Spec{Name: "bash", Description: strings.TrimSpace(description), Timeout: c.Timeout + grace}
	b := bash{Config: c}
	b.Tool = tool.MustNew(spec, b.run)
	return b
}

// bash is the tool; the embedded one checks the arguments and calls run.
type bash struct {
	tool.Tool
	Config
}

func (b bash) run(ctx context.Context, call *tool.Call, in bashArgs) (*tool.Result, error) {
	cmd := sandbox.Command{Script: in.Command, Env: b.Env, Timeout: b.Timeout}
	if strings.TrimSpace(in.Command) == "" {
		return tool.Error("Error: the command is empty"), nil
	}
	if err := cmd.Check(); err != nil {
		return tool.Error("Error: " + err.Error()), nil
	}
	if b.Secrets != nil {
		var err error
		if cmd.Secrets, err = b.Secrets(ctx, call); err != nil {
			return nil, fmt.Errorf("secrets of the command: %w", err)
		}
	}
	box, leave, err := b.sandbox(ctx, len(cmd.Secrets) > 0)
	if err != nil {
		return b.noSandbox(ctx, err, "")
	}
	out := newOutput(b.Space.Files(), b.MaxChars, b.MaxLog, logName(call))
	out.redact(b.Redact)
	cmd.Stdout, cmd.Stderr = out.stdout(), out.stderr()
	stop := showProgress(out, call.Progress)
	res, err := box.Run(ctx, cmd)
	leave()
	stop()
	if err != nil {
		if ctx.Err() != nil { // nobody gets what it printed, so that the file must have it
			out.settle()
		}
		return b.failed(ctx, err, out.finish(false))
	}
	ended := 0
	if len(cmd.Secrets) > 0 {
		ended, res.Background = res.Background, 0
	}
	got := out.finish(res.Background > 0)
	left := threadstate.BackgroundProcesses{Instance: sandbox.InstanceOf(box), Count: res.Background, Log: got.log}
	return remember(b.result(got, res, ended), in, left), nil
}

// sandbox is the thread's, or one that the command has for itself, which leave ends.
func (b bash) sandbox(ctx context.Context, alone bool) (box sandbox.Sandbox, leave func(), err error) {
	if !alone {
		box, err = b.Space.Sandbox(ctx)
		return box, func() {}, err
	}
	box, err = sandbox.Alone(ctx, b.Space)
	return box, func() { _ = box.Close() }, err
}

// failed is the end of a command of which nobody knows how it ended.
func (b bash) failed(ctx context.Context, err error, out captured) (*tool.Result, error) {
	printed, cut := out.text(b.MaxChars, "")
	if ctx.Err() == nil && !cut {
		b.drop(out)
	}
	if cut && out.log != "" {
		printed += "\nFull output: " + out.log
	}
	res, err := b.noSandbox(ctx, err, printed)
	if cut && res != nil {
		res.Stored = out.log
	}
	return res, err
}

// drop removes the file: the model sees all that is in it. The folder goes with its last file, so that what is in the
// workspace does not depend on how fast the machine is. The command may have removed both itself.
func (b bash) drop(out captured) {
	if out.log != "" {
		_ = b.Space.Files().Remove(out.log)
		_ = b.Space.Files().Remove(LogFolder)
	}
}

// noSandbox tells the model why nothing ran, or why it does not know what did. A cancelled run ends.
func (b bash) noSandbox(ctx context.Context, err error, printed string) (*tool.Result, error) {
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("run command: %w", err)
	case errors.Is(err, sandbox.ErrUnavailable):
		return tool.Error("Error: commands cannot be run here: " + inert.Text(err.Error()) +
			". Do without bash; the file tools work."), nil
	case errors.Is(err, sandbox.ErrClosed):
		return tool.Error("Error: the sandbox ended while the command ran, and all its processes with it; files are " +
			"kept. " +
			"Look at what the command has done before you run it again; the next command gets a new sandbox. It " +
			"printed:\n" + cmp.Or(printed, "(no output)")), nil
	}
	b.Log.ErrorContext(ctx, "sandbox failed", "error", err)
	return tool.Error("Error: the sandbox could not run the command. It may work when you try again."), nil
}

// result puts together what the model reads: stdout, stderr, the exit code, and notes on what went wrong. ended counts
// the processes in the background that were ended with the command.
func (b bash) result(out captured, res sandbox.Result, ended int) *tool.Result {
	text, cut := out.text(b.MaxChars, exitNote(res))
	if !cut && res.Background == 0 {
		b.drop(out)
	}
	text = strings.Join(append([]string{text}, b.notes(out, res, cut, ended)...), "\n")
	text = strings.TrimPrefix(text, "\n")
	if strings.TrimSpace(text) == "" {
		text = "(no output)"
	}
	r := tool.Text(text)
	r.IsError = res.TimedOut || res.Limit != ""
	r.Summary = summary(text)
	if cut {
		r.Stored = out.log
	}
	return r
}

// remember adds to the result what is still running, for the time when it is not.
func remember(r *tool.Result, in bashArgs, left threadstate.BackgroundProcesses) *tool.Result {
	if left.Count > 0 && left.Instance != "" {
		left.Command = excerpt.Clip(inert.Line(in.Command), 120)
		r.Update = threadstate.Background.Put([]threadstate.BackgroundProcesses{left})
	}
	return r
}

func exitNote(res sandbox.Result) string {
	if res.Exit == 0 || res.TimedOut {
		return ""
	}
	return fmt.Sprintf("\nExit Code: %d", res.Exit)
}

func (b bash) notes(out captured, res sandbox.Result, cut bool, ended int) (notes []string) {
	if res.TimedOut {
		notes = append(notes,
			fmt.Sprintf("Command timed out after %.0f seconds and was terminated; what is above is all it printed. "+
				"Start a long-lived process in the background: command > log.txt 2>&1 &", b.Timeout.Seconds()))
	}
	if res.Limit != "" {
		notes = append(notes, reached(res.Limit))
	}
	if res.Background > 0 {
		where := ""
		if out.log != "" {
			where = " What they print from now on goes to " + out.log + "."
		}
		notes = append(notes, fmt.Sprintf("%d process(es) still run in the background, until the sandbox is closed.%s",
			res.Background, where))
	}
	if ended > 0 {
		notes = append(notes, fmt.Sprintf("%d process(es) that it left in the background were ended with it: a "+
			"command that has secrets leaves none.", ended))
	}
	switch {
	case cut && out.log != "" && out.full:
		notes = append(notes, "Full output: "+out.log)
	case cut && out.log != "":
		notes = append(notes, fmt.Sprintf("The first %d bytes of the output: %s", b.MaxLog, out.log))
	}
	return notes
}

// reached says which limit a command ran into. One that ends above the limit of the disk was not stopped.
func reached(limit string) string {
	switch limit {
	case "disk":
		return "The sandbox's disk limit was reached: nothing more can be written before files are deleted. " +
			remedy(limit)
	case "free disk":
		return "The command was stopped because the server's disk is nearly full. " + remedy(limit) + " Tell the user."
	}
	return fmt.Sprintf("The command was stopped because it ran into the sandbox's %s limit. %s", limit, remedy(limit))
}

func remedy(limit string) string {
	switch limit {
	case "memory":
		return "Work on less data at a time."
	case "processes":
		return "Start fewer processes side by side."
	case "disk", "free disk", "file size", "tmp":
		return "Delete what is not needed or write less."
	}
	return "Use less of it."
}

// summary is the first line that says something.
func summary(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if line = inert.Line(line); line != "" {
			return excerpt.Clip(line, 200)
		}
	}
	return ""
}
