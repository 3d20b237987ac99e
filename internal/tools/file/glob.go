package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

type globArgs struct {
	Description string `json:"description" doc:"Why you search, in a few words."`
	Pattern     string `json:"pattern" doc:"Glob pattern, relative to path: *.py, **/*.{js,ts}, src/**/test_*."`
	Path        string `json:"path" doc:"Absolute path of the directory to search."`
	IncludeDirs bool   `json:"include_dirs,omitempty" default:"false" doc:"Whether directories count too."`
	MaxResults  int    `json:"max_results,omitempty" default:"200" doc:"How many paths to return, at most 1000."`
}

func (t tools) glob(ctx context.Context, _ *tool.Call, in globArgs) (*tool.Result, error) {
	match, err := compileGlob(in.Pattern, in.Path)
	if err != nil {
		return tool.Error("Error: Invalid glob pattern: " + err.Error()), nil
	}
	limit := bound(in.MaxResults, 200, maxFound)
	found, note, err := t.search(ctx, in.Path, limit, func(rel string, e fs.DirEntry) bool {
		return (in.IncludeDirs || !e.IsDir()) && match(rel)
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return failed("Directory", in.Path, err), nil
	}
	return globResult(in.Path, found, limit, note), nil
}

// search collects the paths below a folder that ok accepts, one more than limit if there are as many.
func (t tools) search(ctx context.Context, root string, limit int,
	ok func(rel string, e fs.DirEntry) bool) (found []string, note string, err error) {
	limited, cancel := t.within(ctx)
	defer cancel()
	base, err := sandbox.CleanPath(root)
	if err != nil {
		return nil, "", err
	}
	err = t.Files.Walk(limited, root, maxEntries, func(p string, e fs.DirEntry) error {
		if ignored(e.Name()) {
			return skip(e)
		}
		if err := limited.Err(); err != nil { // a match may take a while
			return err
		}
		if !ok(strings.TrimPrefix(p, base+"/"), e) {
			return nil
		}
		if found = append(found, p); len(found) > limit {
			return fs.SkipAll
		}
		return nil
	})
	note, err = cutShort(ctx, err)
	return found, note, err
}

func globResult(root string, found []string, limit int, note string) *tool.Result {
	if len(found) == 0 {
		return tool.Text(joinNote("No files matched under "+root, note))
	}
	more := ""
	if len(found) > limit {
		found = found[:limit]
		more = fmt.Sprintf(" (showing first %d)", limit)
		note = "There are more. Narrow the pattern or the path."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Found %d paths under %s%s", len(found), root, more)
	for i, p := range found {
		fmt.Fprintf(&b, "\n%d. %s", i+1, p)
	}
	return tool.Text(joinNote(b.String(), note))
}

func joinNote(s, note string) string {
	if note == "" {
		return s
	}
	return s + "\n" + note
}

// bound clamps what a model asked for: nothing or less means def, and never more than limit.
func bound(asked, def, limit int) int {
	if asked <= 0 {
		asked = def
	}
	return min(asked, limit)
}

// compileGlob makes the test of a path relative to root. A pattern may match the end of the path, as in *.py for every
// Python file below; "**" stands for any number of folders, none included. A pattern that starts with root, or with ./,
// is anchored there.
func compileGlob(pattern, root string) (func(rel string) bool, error) {
	anchored := false
	if base, err := sandbox.CleanPath(root); err == nil {
		pattern, anchored = strings.CutPrefix(pattern, base+"/")
	}
	if p, ok := strings.CutPrefix(pattern, "./"); ok {
		pattern, anchored = p, true
	}
	if err := checkGlob(pattern); err != nil {
		return nil, err
	}
	if !anchored {
		pattern = "**/" + pattern
	}
	for strings.Contains(pattern, "**/**/") { // means the same and costs more
		pattern = strings.ReplaceAll(pattern, "**/**/", "**/")
	}
	return func(rel string) bool { return doublestar.MatchUnvalidated(pattern, rel) }, nil
}

// checkGlob keeps out what cannot match and what takes exponential time.
func checkGlob(p string) error {
	switch {
	case p == "":
		return errors.New("it is empty")
	case len(p) > maxPattern:
		return fmt.Errorf("it is longer than %d bytes", maxPattern)
	case strings.HasPrefix(p, "/"):
		return errors.New("it is absolute; give the directory as path and a pattern relative to it")
	case strings.Count(p, "*") > 20 || strings.Count(p, "{") > 5:
		return errors.New("it has more than 20 stars or 5 alternatives")
	case !doublestar.ValidatePattern(p):
		return fmt.Errorf("%q is not well-formed", clip(p, 100))
	}
	return nil
}
