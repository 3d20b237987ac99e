// Package readbeforewrite keeps a model from overwriting what it has not seen. write_file and str_replace change a file
// that exists only if the conversation shows its present content: the model has read it, or has written it itself.
//
// Each successful read_file, write_file and str_replace leaves a mark on its tool message, with the path and the hash
// of the file at that time; the newest mark of a path counts. Adding to the end of a file is always allowed, as nothing
// can be lost by it. A mark goes with its message when a conversation is compacted, as does what the model knew.
package readbeforewrite

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// The tools that are looked at.
const (
	readFile   = "read_file"
	writeFile  = "write_file"
	strReplace = "str_replace"
)

// Config is what the middleware works with.
type Config struct {
	// Files are the thread's. Required.
	Files *sandbox.Files
}

// Middleware checks changes of files.
type Middleware struct {
	files *sandbox.Files

	mu   sync.Mutex
	made map[place]written // see remember
}

var _ agent.ToolCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New(cfg Config) *Middleware {
	return &Middleware{files: cfg.Files, made: make(map[place]written)}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "ReadBeforeWriteMiddleware" }

// WrapToolCall implements [agent.ToolCallWrapper].
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	name := req.Call.Name
	if req.Invalid != "" || name != readFile && name != writeFile && name != strReplace {
		return next(ctx, req)
	}
	var in struct {
		Path   string `json:"path"`
		Append bool   `json:"append"`
	}
	if err := json.Unmarshal(req.Call.Args, &in); err != nil {
		return next(ctx, req)
	}
	path, err := sandbox.CleanPath(in.Path)
	if err != nil {
		return next(ctx, req) // the tool says what is wrong with it
	}
	if name == readFile {
		return m.read(ctx, req, next, path)
	}
	return m.write(ctx, req, next, change{path: path, add: in.Append && name == writeFile, whole: name == writeFile &&
		!in.Append})
}

// read marks what was read. The hash is taken before: should the file change in between, the mark is of a content that
// is gone, and the model is told to read again.
func (m *Middleware) read(ctx context.Context, req *agent.ToolRequest, next agent.ToolHandler,
	path string) (*tool.Result, error) {
	hash, state := m.version(path)
	res, err := next(ctx, req)
	if err != nil || state != present || !succeeded(res) {
		return res, err
	}
	return marked(res, path, hash), nil
}

// change is what a call wants to do with a file.
type change struct {
	path  string
	add   bool // at its end
	whole bool // all of it is replaced
}

// write lets a change through if the model knows what it changes, and marks what came of it. Nobody else changes the
// file through these tools meanwhile.
func (m *Middleware) write(ctx context.Context, req *agent.ToolRequest, next agent.ToolHandler,
	c change) (*tool.Result, error) {
	defer m.files.Lock(c.path + "/.read-before-write")() // the tools themselves take the lock of the path
	hash, state := m.version(c.path)
	known := state == missing || state == present && m.knows(req, c.path, hash)
	if state == present && !known && !c.add {
		return blocked(req.Call, c.path), nil
	}
	res, err := next(ctx, req)
	if err != nil || !succeeded(res) || !known && !c.whole {
		return res, err
	}
	hash, state = m.version(c.path)
	if state != present {
		return res, nil
	}
	m.remember(req, c.path, hash)
	return marked(res, c.path, hash), nil
}

func succeeded(res *tool.Result) bool {
	return res != nil && !res.IsError && !strings.HasPrefix(res.Text(), "Error:")
}

// KeyMark is the additional_kwargs key of the mark on a tool message.
const KeyMark = "deerflow_read_mark"

// mark says what a file held when the model read or wrote it.
type mark struct {
	Path string `json:"path"`
	Hash string `json:"hash"` // see version
}

// marked returns the result with a mark.
func marked(res *tool.Result, path, hash string) *tool.Result {
	raw, _ := json.Marshal(mark{path, hash}) // two strings always encode
	out := *res
	out.Kwargs = message.Fields{}
	maps.Copy(out.Kwargs, res.Kwargs)
	out.Kwargs[KeyMark] = raw
	return &out
}

// blocked tells the model what to do first.
func blocked(call tool.Call, path string) *tool.Result {
	why := "you have not read its current version"
	if _, ok := newest(call.State, path); ok {
		why = "it has changed since you last read or wrote it"
	}
	res := tool.Error(fmt.Sprintf("Error: %s blocked — %s already exists and %s. Nothing was changed. "+
		"Read it with read_file (a part is enough), then send the call again.", call.Name, path, why))
	kind := "permission"
	res.Kwargs = message.Fields{toolmeta.Key: toolmeta.Meta{
		Status: toolmeta.StatusError, ErrorType: &kind, Recoverable: true, Next: toolmeta.NextTryAlternative,
		Source: toolmeta.SourceReturn,
	}.Field()}
	return res
}
