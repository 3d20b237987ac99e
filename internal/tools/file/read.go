package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

type readArgs struct {
	Description string `json:"description" doc:"Why you read it, in a few words."`
	Path        string `json:"path" doc:"Absolute path of the file."`
	StartLine   *int   `json:"start_line,omitempty" doc:"First line to read, counted from 1."`
	EndLine     *int   `json:"end_line,omitempty" doc:"Last line to read."`
}

func (t tools) read(ctx context.Context, _ *tool.Call, in readArgs) (*tool.Result, error) {
	r := &reader{ctx: ctx, first: 1, last: math.MaxInt, limit: t.ReadMaxChars}
	switch {
	case in.StartLine != nil && *in.StartLine < 1:
		return tool.Error("(start_line must be >= 1)"), nil
	case in.EndLine != nil && *in.EndLine < 1:
		return tool.Error("(end_line must be >= 1)"), nil
	case in.StartLine != nil && in.EndLine != nil && *in.StartLine > *in.EndLine:
		return tool.Error("(start_line > end_line — no lines in range)"), nil
	}
	if in.StartLine != nil {
		r.first, r.ranged = *in.StartLine, true
	}
	if in.EndLine != nil {
		r.last, r.ranged = *in.EndLine, true
	}
	err := t.readLines(in.Path, r)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errBinary):
		return tool.Error(fmt.Sprintf("Error: cannot read '%s' as text — %v. Use bash with a program for this kind "+
			"of file, or view_image for an image.", clip(in.Path, 500), err)), nil
	case err != nil:
		return failed("File", in.Path, err), nil
	}
	res := tool.Text(r.text())
	res.Summary = fmt.Sprintf("%d lines of %s", r.lines, clip(in.Path, 200))
	return res, nil
}

func (t tools) readLines(path string, r *reader) error {
	h, err := t.openText(path, maxReadFile, "take a part with bash (head, tail, sed)")
	if err != nil {
		return err
	}
	defer h.Close()
	return r.readAll(h)
}

// openText opens a file of at most limit bytes that is not binary. advice says what to do with a larger one.
func (t tools) openText(path string, limit int64, advice string) (*sandbox.File, error) {
	h, err := t.Files.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := h.Stat()
	switch {
	case err != nil:
	case info.Size() > limit:
		err = fmt.Errorf("%w: %d bytes, the limit is %d; %s", sandbox.ErrTooLarge, info.Size(), limit, advice)
	case binary(h):
		err = errBinary
	default:
		return h, nil
	}
	_ = h.Close()
	return nil, err
}

// reader collects the lines of a range: the text up to the limit, and how much there is in all.
type reader struct {
	ctx         context.Context
	first, last int
	ranged      bool
	limit       int // characters; negative for none

	out     []byte
	dropped bool // out is not all
	total   int  // characters of the range
	lines   int  // lines of the range
	inFile  int  // lines of the file, as far as it was read
}

func (r *reader) readAll(h io.Reader) error {
	err := eachPart(h, maxReadFile, func(n int, part []byte) error {
		if n > r.last {
			return fs.SkipAll
		}
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if n >= r.first {
			r.part(part)
			r.lines = n - r.first + 1
		}
		r.inFile = n
		return nil
	})
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

func (r *reader) part(b []byte) {
	for _, c := range b {
		if utf8.RuneStart(c) {
			r.total++
		}
	}
	if r.limit >= 0 {
		if room := r.limit*utf8.UTFMax - len(r.out); len(b) > room {
			b, r.dropped = b[:room], true
		}
	}
	r.out = append(r.out, b...)
}

func (r *reader) text() string {
	s := strings.ToValidUTF8(string(r.out), "\uFFFD")
	if !r.dropped {
		r.total = utf8.RuneCountInString(s)
	}
	switch {
	case r.first > 1 && r.lines == 0:
		return "(start_line exceeds file length)"
	case r.limit >= 0 && r.total > r.limit:
		return r.cut(s)
	case r.ranged:
		s = strings.TrimSuffix(s, "\n")
	}
	if s == "" {
		return "(empty)"
	}
	return s
}

// cut keeps the head and says where to go on.
func (r *reader) cut(s string) string {
	s = excerpt.First(s, r.limit)
	line := r.first + strings.Count(strings.TrimSuffix(s, "\n"), "\n")
	return s +
		fmt.Sprintf("\n... [truncated: showing first %d of %d chars. Use start_line/end_line to read a specific "+
			"range] ...\n"+
			"(the text above ends in line %d of %d)", utf8.RuneCountInString(s), r.total, line, r.inFile)
}
