package sandbox

import "context"

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
