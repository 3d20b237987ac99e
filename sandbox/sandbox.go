// Package sandbox is the contract of the place where the agent's code runs and its files live. A [Provider] opens a
// [Sandbox] that runs shell commands; [Files] gives the server the same files under the same virtual paths.
//
// Paths are those the model sees: /mnt/user-data/{workspace,uploads,outputs}, /mnt/skills, /mnt/<name>. No path of the
// host ever reaches the model, and no path of the model is ever joined to one of the host.
package sandbox

import (
	"context"
	"errors"
	"io"
	"time"
)

// Where a thread's files are, seen from inside.
const (
	UserData  = "/mnt/user-data"
	Workspace = UserData + "/workspace"
	Uploads   = UserData + "/uploads"
	Outputs   = UserData + "/outputs"
)

// Folder is where a thread sees the files of the folder that it is in, which it shares with the other threads there:
// read-only.
const Folder = "/mnt/folder"

// Errors of a sandbox. They come wrapped with the cause.
var (
	// ErrUnavailable: the provider cannot isolate on this machine. The message says why and what would help.
	ErrUnavailable = errors.New("sandbox unavailable")
	// ErrClosed: the sandbox is closed or died.
	ErrClosed = errors.New("sandbox closed")
)

// Provider opens sandboxes. It may have more methods, which are looked for:
//
//   - Owner(id string) (uid, gid int): who must own the files that the server makes for the sandbox of that ID.
//   - Reap(ctx context.Context) error: waits for the end of the sandboxes of servers that were killed.
//   - Programs(ctx context.Context) []string: what there is to run, for the system prompt.
type Provider interface {
	// Name is "bubblewrap", "host" ...
	Name() string
	// Isolated reports whether code inside is kept from the host.
	Isolated() bool
	// Probe really runs a command under the full profile; an error wraps [ErrUnavailable].
	Probe(ctx context.Context) error
	// Open starts a sandbox. Its files are the mounts' and outlive it.
	Open(ctx context.Context, spec Spec) (Sandbox, error)
}

// Spec says what a sandbox sees.
type Spec struct {
	// ID names the sandbox, which is that of one thread of one user. It is safe as a file name.
	ID string
	// Mounts are the folders it sees. Their Host folders exist.
	Mounts []Mount
	// Limits bound it; zero fields mean the defaults of [Limits].
	Limits Limits
}

// Mount shows a folder of the host at a virtual path.
type Mount struct {
	Host     string // absolute
	Path     string // absolute, clean, below /mnt
	ReadOnly bool
}

// Limits bound what all processes of a sandbox may take together. Zero means the default.
type Limits struct {
	Processes int     // default 256
	Memory    int64   // bytes; default 2 GiB
	CPUs      float64 // of processor time per second of wall time; default all
	Tmp       int64   // bytes of /tmp; default 256 MiB
	Disk      int64   // bytes of all writable mounts together; default 4 GiB
	FileSize  int64   // bytes of one file; default 2 GiB
}

// Sandbox runs commands. Several may run at once. Background processes live until Close.
type Sandbox interface {
	// Run executes the command and returns when its shell has ended, although processes that it left in the background
	// may go on. Cancelling ctx or running into the time-out kills the command with all its children within a
	// second; time-out is not an error, cancelling is ctx's error. A sandbox that died gives [ErrClosed].
	Run(ctx context.Context, cmd Command) (Result, error)
	// Close kills everything inside and releases the sandbox. Closing twice is fine.
	Close() error
}

// Command is a script for bash.
type Command struct {
	Script string
	// Dir is the virtual working directory; empty means [Workspace].
	Dir string
	// Env adds variables ("NAME=value"); nothing of the server's own environment is inherited.
	Env []string
	// Secrets are variables as those of Env, which stand before these, and in no command line: whoever may list the
	// processes of the machine does not see them. What runs in the same sandbox can; see [Alone].
	Secrets []string
	// Timeout bounds the command; 0 means 600 s.
	Timeout time.Duration
	// Stdout and Stderr receive the output as it comes, nil means discard. A background process keeps writing to them
	// until it ends or the sandbox is closed, also after Run returned. They may be called at the same time. Once one
	// fails, the rest of its stream is discarded.
	Stdout, Stderr io.Writer
}

// Result is how a command ended.
type Result struct {
	// Exit is the shell's exit code; 128+n when signal n killed it.
	Exit     int
	TimedOut bool
	// Limit names the limit that the sandbox ran into while the command ran: "memory", "processes", "disk", "file
	// size", or "free disk" when the machine's own disk is nearly full. As a rule it is what ended the command; a
	// command that ends while more than the limit is on the disk says "disk" as well. Empty when none was met.
	Limit string
	// Background counts the processes that the command left running.
	Background int
	Duration   time.Duration
}
