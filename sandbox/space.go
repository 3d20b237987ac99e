package sandbox

import (
	"context"
	"fmt"
)

// Space is what the tools of a thread get of the place where it works: its files at once, its sandbox when a tool
// first needs one. It belongs to whoever runs the thread, who also closes what it opened.
type Space interface {
	// ID is the id of the thread's open sandbox, "" until one was opened.
	ID() string
	// Files returns the thread's files. They need no sandbox, and are never nil.
	Files() *Files
	// Sandbox returns the thread's sandbox and starts one if there is none or if the last one is closed or died; then
	// its background processes are gone and its files are not. Callers share it and do not close it.
	//
	// An error that wraps [ErrUnavailable] means that this machine cannot isolate code, which trying again does not
	// change: the tool tells the model so with the error's text, and the run goes on without the tool. Nothing falls
	// back to running code unisolated.
	Sandbox(ctx context.Context) (Sandbox, error)
}

// Identified is a [Sandbox] that can be told from all others, also from those that the same thread had before or in
// another process.
type Identified interface {
	// Instance names this one sandbox. A thread's next sandbox has another instance, whatever its id.
	Instance() string
}

// InstanceOf returns the instance of a sandbox, "" if it has none.
func InstanceOf(s Sandbox) string {
	if i, ok := s.(Identified); ok {
		return i.Instance()
	}
	return ""
}

// Resident is a [Space] that knows what became of its thread's sandboxes.
type Resident interface {
	// Alive reports whether the sandbox with this instance is still there, and with it the processes that commands left
	// in its background.
	Alive(instance string) bool
}

// Private is a [Space] that can open a second sandbox beside the thread's, which one command has for itself.
type Private interface {
	// Alone opens a sandbox on the thread's files that nobody else gets. Who asks for it closes it, and with it ends
	// what was left in its background. Errors are those of [Space].Sandbox.
	Alone(ctx context.Context) (Sandbox, error)
}

// Alone opens a sandbox of a space that nobody else gets. A space that has none is [ErrUnavailable].
func Alone(ctx context.Context, s Space) (Sandbox, error) {
	if p, ok := s.(Private); ok {
		return p.Alone(ctx)
	}
	return nil, fmt.Errorf("%w: there is none for one command alone", ErrUnavailable)
}
