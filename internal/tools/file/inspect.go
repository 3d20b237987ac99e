package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// inspected is a tool that can look at what is left of a call that a crash cut off. A file is replaced whole or not at
// all, so that its content tells most of it.
type inspected[In any] struct {
	tool.Tool
	look func(In) string
}

var (
	_ tool.Inspector = inspected[writeArgs]{}
	_ tool.Ordered   = inspected[writeArgs]{}
	_ tool.Ordered   = ordered{}
)

// Lane implements [tool.Ordered].
func (t inspected[In]) Lane(args json.RawMessage) string { return lane(args) }

// ordered is a tool that does not overtake changes of the file that it reads.
type ordered struct{ tool.Tool }

// Lane implements [tool.Ordered].
func (ordered) Lane(args json.RawMessage) string { return lane(args) }

// lane is the file that a call works on.
func lane(args json.RawMessage) string {
	var in struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(args, &in) != nil {
		return "" // such a call does not run
	}
	path, err := sandbox.CleanPath(in.Path)
	if err != nil {
		return ""
	}
	return "file " + path
}

// Inspect implements [tool.Inspector].
func (t inspected[In]) Inspect(_ context.Context, call *tool.Call) string {
	var in In
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return "" // such a call was never started
	}
	return t.look(in)
}

// lookWritten compares a file with what write_file was asked to write.
func (t tools) lookWritten(in writeArgs) string {
	now, text := t.now(in.Path)
	whole, end := bytes.Equal(now, []byte(in.Content)), bytes.HasSuffix(now, []byte(in.Content))
	switch {
	case now == nil:
	case whole && !in.Append:
		text += " It holds exactly the text of this call: the call was completed."
	case !in.Append:
		text += " It does not hold the text of this call, which was written whole or not at all: call it again if " +
			"you still want that text there."
	case in.Content != "" && end:
		text += " It ends with the text of this call, which was added unless the file ended like that before."
	default:
		text += " It does not end with the whole text of this call; a part may have been added. Look at its end " +
			"before you add anything."
	}
	return text
}

// lookReplaced counts the texts of a str_replace call in the file.
func (t tools) lookReplaced(in replaceArgs) string {
	now, text := t.now(in.Path)
	if now == nil || in.OldStr == "" {
		return text
	}
	text += fmt.Sprintf(" It was changed whole or not at all. old_str is in it %d time(s)",
		bytes.Count(now, []byte(in.OldStr)))
	if in.NewStr != "" {
		text += fmt.Sprintf(", new_str %d time(s)", bytes.Count(now, []byte(in.NewStr)))
	}
	return text + "."
}

// now returns what a file holds, nil if that cannot be said, and what there is to say of it.
func (t tools) now(path string) ([]byte, string) {
	shown := clip(path, 500)
	info, err := t.Files.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Sprintf("There is no file %s now.", shown)
	}
	if err != nil {
		return nil, fmt.Sprintf("%s cannot be looked at: %s.", shown, reason(err))
	}
	text := fmt.Sprintf("%s has %d bytes now and was last changed at %s.", shown, info.Size(),
		info.ModTime().UTC().Format(time.RFC3339))
	raw, err := t.Files.ReadFile(path, maxEditFile)
	if err != nil {
		return nil, text
	}
	return raw, text
}
