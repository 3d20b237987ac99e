package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

type grepArgs struct {
	Description   string `json:"description" doc:"Why you search, in a few words."`
	Pattern       string `json:"pattern" doc:"Regular expression in RE2 syntax (no look-around, no back-references), or plain text with literal."`
	Path          string `json:"path" doc:"Absolute path of the directory or file to search."`
	Glob          string `json:"glob,omitempty" doc:"Only search files that match this glob pattern, such as *.py."`
	Literal       bool   `json:"literal,omitempty" default:"false" doc:"Whether pattern is plain text."`
	CaseSensitive bool   `json:"case_sensitive,omitempty" default:"false" doc:"Whether upper and lower case differ."`
	MaxResults    int    `json:"max_results,omitempty" default:"100" doc:"How many lines to return, at most 500."`
}

const (
	maxGrepFile  = 1_000_000 // bytes of a file that is searched without being named
	maxGrepLine  = 2000      // characters of a line that is searched
	maxGrepShown = 200       // characters of a line that are shown
)

func (t tools) grep(ctx context.Context, _ *tool.Call, in grepArgs) (*tool.Result, error) {
	re, err := compileRegexp(in)
	if err != nil {
		return tool.Error("Error: Invalid regex pattern: " + err.Error()), nil
	}
	wanted := func(string) bool { return true }
	if in.Glob != "" {
		if wanted, err = compileGlob(in.Glob, in.Path); err != nil {
			return tool.Error("Error: Invalid glob pattern: " + err.Error()), nil
		}
	}
	s := &grepSearch{re: re, limit: bound(in.MaxResults, 100, maxMatches)}
	note, err := t.grepAll(ctx, in.Path, wanted, s)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return failed("Path", in.Path, err), nil
	}
	return s.result(in.Path, note), nil
}

func compileRegexp(in grepArgs) (*regexp.Regexp, error) {
	p := in.Pattern
	if p == "" {
		return nil, errors.New("it is empty")
	}
	if len(p) > maxPattern {
		return nil, fmt.Errorf("it is longer than %d bytes", maxPattern)
	}
	if in.Literal {
		p = regexp.QuoteMeta(p)
	}
	if !in.CaseSensitive {
		p = "(?i)" + p
	}
	return regexp.Compile(p)
}

// grepAll searches the file that is named, whatever its name and size, or the files below the folder.
func (t tools) grepAll(ctx context.Context, root string, wanted func(string) bool,
	s *grepSearch) (note string, err error) {
	info, err := t.Files.Stat(root)
	if err != nil {
		return "", err
	}
	limited, cancel := t.within(ctx)
	defer cancel()
	if !info.IsDir() {
		clean, _ := sandbox.CleanPath(root)
		err := t.grepFile(limited, clean, maxReadFile, s)
		if errors.Is(err, errBinary) {
			return "The file is binary.", nil
		}
		return cutShort(ctx, err)
	}
	base, _ := sandbox.CleanPath(root)
	err = t.Files.Walk(limited, root, maxEntries, func(p string, e fs.DirEntry) error {
		if ignored(e.Name()) {
			return skip(e)
		}
		if !e.Type().IsRegular() || !wanted(strings.TrimPrefix(p, base+"/")) {
			return nil
		}
		err := t.grepFile(limited, p, maxGrepFile, s)
		if err != nil && limited.Err() == nil && !errors.Is(err, fs.SkipAll) {
			return nil // unreadable, binary or too large: the others may do
		}
		return err
	})
	return cutShort(ctx, err)
}

func (t tools) grepFile(ctx context.Context, path string, limit int64, s *grepSearch) error {
	h, err := t.openText(path, limit, "search it with bash")
	if err != nil {
		return err
	}
	defer h.Close()
	return eachLine(h, limit, func(n int, line []byte) error {
		if n%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return s.line(path, n, line)
	})
}

// grepSearch collects matches, one more than limit if there are as many.
type grepSearch struct {
	re    *regexp.Regexp
	limit int
	found []string
}

func (s *grepSearch) line(path string, n int, line []byte) error {
	if !s.re.Match(line) {
		return nil
	}
	shown := clip(strings.ToValidUTF8(string(line), "\uFFFD"), maxGrepShown)
	s.found = append(s.found, fmt.Sprintf("%s:%d: %s", path, n, shown))
	if len(s.found) > s.limit {
		return fs.SkipAll
	}
	return nil
}

func (s *grepSearch) result(root, note string) *tool.Result {
	if len(s.found) == 0 {
		return tool.Text(joinNote("No matches found under "+root, note))
	}
	found, more := s.found, ""
	if len(found) > s.limit {
		found = found[:s.limit]
		more = fmt.Sprintf(" (showing first %d)", s.limit)
		note = "There are more. Narrow the pattern, the path or the glob."
	}
	head := fmt.Sprintf("Found %d matches under %s%s\n", len(found), root, more)
	return tool.Text(joinNote(head+strings.Join(found, "\n"), note))
}
