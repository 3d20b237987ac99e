package tool

import "context"

// Source has tools that come and go while a run works, such as those of a server that is connected. It is asked before
// each call of the model, by several runs at once, and answers from what it has: it has ten seconds.
//
// A tool of the agent's own comes before one of the same name. When a tool is gone, or the source fails, calls of it
// are answered with an error that the model can act on; and so are those that a crash has cut off if the tool has other
// parameters since.
type Source interface {
	// Tools are those that the run may call now, at most 256. version changes whenever they do: where it is the same as
	// before, and not empty, the tools are not looked at again.
	Tools(ctx context.Context, ref Ref) (tools []Tool, version string, err error)
}
