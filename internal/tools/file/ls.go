package file

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/tool"
)

type lsArgs struct {
	Description string `json:"description" doc:"Why you list it, in a few words."`
	Path        string `json:"path" doc:"Absolute path of the directory."`
}

const lsDepth = 2

func (t tools) ls(ctx context.Context, _ *tool.Call, in lsArgs) (*tool.Result, error) {
	found, note, err := t.list(ctx, in.Path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return failed("Directory", in.Path, err), nil
	}
	if len(found) == 0 {
		return tool.Text("(empty)"), nil
	}
	text := t.cutList(strings.Join(found, "\n"))
	if note != "" {
		text += "\n" + note
	}
	res := tool.Text(text)
	res.Summary = fmt.Sprintf("%d entries in %s", len(found), clip(in.Path, 200))
	return res, nil
}

func (t tools) list(ctx context.Context, path string) (found []string, note string, err error) {
	limited, cancel := t.within(ctx)
	defer cancel()
	base := -1 // slashes in the paths of the folder's own entries
	err = t.Files.Walk(limited, path, maxEntries, func(p string, e fs.DirEntry) error {
		if base < 0 {
			base = strings.Count(p, "/")
		}
		if ignored(e.Name()) {
			return skip(e)
		}
		if !e.IsDir() {
			found = append(found, p)
			return nil
		}
		found = append(found, p+"/")
		if strings.Count(p, "/")-base+1 >= lsDepth {
			return fs.SkipDir
		}
		return nil
	})
	note, err = cutShort(ctx, err)
	slices.Sort(found)
	return found, note, err
}

// skip leaves an entry out, and with a folder what is in it.
func skip(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (t tools) cutList(s string) string {
	n := utf8.RuneCountInString(s)
	if t.ListMaxChars < 0 || n <= t.ListMaxChars {
		return s
	}
	kept := excerpt.First(s, t.ListMaxChars)
	if i := strings.LastIndexByte(kept, '\n'); i > 0 {
		kept = kept[:i]
	}
	return kept +
		fmt.Sprintf("\n... [truncated: showing first %d of %d chars. List a more specific path, or use glob] ...",
			utf8.RuneCountInString(kept), n)
}
