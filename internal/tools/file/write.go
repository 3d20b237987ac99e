package file

import (
	"bytes"
	"context"
	"fmt"

	"github.com/pudu-ai/pudu/tool"
)

type writeArgs struct {
	Description string `json:"description" doc:"Why you write it, in a few words."`
	Path        string `json:"path" doc:"Absolute path of the file."`
	Content     string `json:"content" doc:"The text to write."`
	Append      bool   `json:"append,omitempty" default:"false" doc:"Whether to add to the end of the file instead of replacing it."`
}

func (t tools) write(_ context.Context, _ *tool.Call, in writeArgs) (*tool.Result, error) {
	if n := len(in.Content); !in.Append && t.WriteMaxBytes > 0 && n > t.WriteMaxBytes {
		return tool.Error(fmt.Sprintf("Error: write_file content (%d bytes) exceeds the %d-byte single-call limit. "+
			"Nothing was written. Write the first part, then add the others with append=true, each in its own call.",
			n, t.WriteMaxBytes)), nil
	}
	defer t.Files.Lock(in.Path)()
	if err := t.Files.WriteFile(in.Path, []byte(in.Content), in.Append); err != nil {
		return tool.Error(clip(fmt.Sprintf("Error: Failed to write file '%s': %s", clip(in.Path, 500), reason(err)),
			2000)), nil
	}
	return ok(fmt.Sprintf("Wrote %d bytes to %s", len(in.Content), in.Path)), nil
}

// ok is the result of a change. The summary tells people what the model knows already.
func ok(summary string) *tool.Result {
	res := tool.Text("OK")
	res.Summary = clip(summary, 300)
	return res
}

type replaceArgs struct {
	Description string `json:"description" doc:"Why you change it, in a few words."`
	Path        string `json:"path" doc:"Absolute path of the file."`
	OldStr      string `json:"old_str" doc:"The text to replace, exactly as it is in the file."`
	NewStr      string `json:"new_str" doc:"The text to put in its place."`
	ReplaceAll  bool   `json:"replace_all,omitempty" default:"false" doc:"Whether to replace every occurrence instead of the first one."`
}

func (t tools) replace(_ context.Context, _ *tool.Call, in replaceArgs) (*tool.Result, error) {
	defer t.Files.Lock(in.Path)()
	old, err := t.Files.ReadFile(in.Path, maxEditFile)
	if err != nil {
		return failed("File", in.Path, err), nil
	}
	if in.OldStr == "" {
		return ok("Nothing to replace in " + in.Path), nil
	}
	n := bytes.Count(old, []byte(in.OldStr))
	if n == 0 {
		return tool.Error("Error: String to replace not found in file: " + clip(in.Path, 500)), nil
	}
	if !in.ReplaceAll {
		n = 1
	}
	if size := len(old) + n*(len(in.NewStr)-len(in.OldStr)); size > maxEditFile {
		return tool.Error(fmt.Sprintf("Error: the file would have %d bytes, the limit of str_replace is %d. Use bash.",
			size, maxEditFile)), nil
	}
	changed := bytes.Replace(old, []byte(in.OldStr), []byte(in.NewStr), n)
	if err := t.Files.WriteFile(in.Path, changed, false); err != nil {
		return failed("File", in.Path, err), nil
	}
	return ok(fmt.Sprintf("Replaced %d occurrence(s) in %s", n, in.Path)), nil
}
