// Package file holds the tools with which a model looks at and changes the files of its thread: ls, read_file, glob,
// grep, write_file and str_replace. They work on the server through [sandbox.Files], so they need no sandbox, cost well
// under a millisecond, and cannot leave the thread's folders whatever path or link they are given.
package file

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// Config is what the tools work on and their bounds. Zero means the default, a negative number no bound.
type Config struct {
	// Files are the thread's.
	Files *sandbox.Files
	// ReadMaxChars bounds what read_file returns; default 50,000.
	ReadMaxChars int
	// ListMaxChars bounds what ls returns; default 20,000.
	ListMaxChars int
	// WriteMaxBytes bounds one write_file call that does not append; default 81,920.
	WriteMaxBytes int
	// SearchTime bounds one ls, glob or grep; default 20 s.
	SearchTime time.Duration
}

// Bounds that no configuration changes.
const (
	maxEntries  = 100_000   // files and folders that one search looks at
	maxPattern  = 2000      // bytes of a pattern
	maxFound    = 1000      // paths that one glob returns
	maxMatches  = 500       // of one grep
	maxReadFile = 256 << 20 // bytes of a file that read_file and grep scan
	maxEditFile = 16 << 20  // bytes of a file that str_replace changes
)

// The texts that the model reads of the tools.
var (
	//go:embed ls.md
	lsText string
	//go:embed read_file.md
	readText string
	//go:embed glob.md
	globText string
	//go:embed grep.md
	grepText string
	//go:embed write_file.md
	writeText string
	//go:embed str_replace.md
	replaceText string
)

// Reading returns ls, read_file, glob and grep.
func Reading(c Config) []tool.Tool {
	t := newTools(c)
	return []tool.Tool{
		tool.MustNew(spec("ls", lsText, tool.ReadOnly), t.ls),
		ordered{tool.MustNew(spec("read_file", readText, tool.ReadOnly), t.read)},
		tool.MustNew(spec("glob", globText, tool.ReadOnly), t.glob),
		tool.MustNew(spec("grep", grepText, tool.ReadOnly), t.grep),
	}
}

// Writing returns write_file and str_replace. Both count as having side effects: write_file can append, and replacing
// the first occurrence a second time hits the next one. Both can look at what is left of a call that a crash cut off.
func Writing(c Config) []tool.Tool {
	t := newTools(c)
	return []tool.Tool{
		inspected[writeArgs]{tool.MustNew(spec("write_file", writeText, tool.SideEffects), t.write), t.lookWritten},
		inspected[replaceArgs]{tool.MustNew(spec("str_replace", replaceText, tool.SideEffects), t.replace),
			t.lookReplaced},
	}
}

func spec(name, text string, effect tool.Effect) tool.Spec {
	return tool.Spec{Name: name, Description: strings.TrimSpace(text), Effect: effect}
}

type tools struct{ Config }

func newTools(c Config) tools {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.ReadMaxChars, 50_000)
	def(&c.ListMaxChars, 20_000)
	def(&c.WriteMaxBytes, 81_920)
	if c.SearchTime == 0 {
		c.SearchTime = 20 * time.Second
	}
	return tools{c}
}

// within bounds a search in time.
func (t tools) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if t.SearchTime < 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, t.SearchTime)
}

// cutShort turns the end of a search into a note for its result: one that ran into a bound still has what it found.
// Cancelling the run is an error, and so is everything else.
func cutShort(ctx context.Context, err error) (note string, rest error) {
	switch {
	case err == nil, errors.Is(err, fs.SkipAll):
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return "Stopped: the search took too long. Search a smaller folder.", nil
	case errors.Is(err, sandbox.ErrTooMany):
		return fmt.Sprintf("Stopped after %d files and folders. Search a smaller folder.", maxEntries), nil
	}
	return "", err
}

// failed says what is wrong with a path, in words for the model. what is "File" or "Directory".
func failed(what, path string, err error) *tool.Result {
	path = clip(path, 500)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tool.Error(fmt.Sprintf("Error: %s not found: %s", what, path))
	case errors.Is(err, syscall.ENOTDIR):
		return tool.Error(fmt.Sprintf("Error: Not a directory: %s", path))
	case errors.Is(err, sandbox.ErrIsDir):
		return tool.Error(fmt.Sprintf("Error: Path is a directory, not a file: %s. Use ls to list it.", path))
	case errors.Is(err, fs.ErrPermission):
		return tool.Error(fmt.Sprintf("Error: Permission denied: %s", path))
	case errors.Is(err, sandbox.ErrOutside), errors.Is(err, sandbox.ErrReadOnly), errors.Is(err, sandbox.ErrLinked):
		return tool.Error(fmt.Sprintf("Error: Permission denied: %s: %s", path, reason(err)))
	}
	return tool.Error(fmt.Sprintf("Error: %s: %s", path, reason(err)))
}

// reason is the text of an error without the path.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return clip(err.Error(), 1000)
}

// clip cuts s to at most limit runes.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return excerpt.First(s, limit-3) + "..."
}
