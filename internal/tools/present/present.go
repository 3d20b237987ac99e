// Package present holds the present_files tool, by which a model shows finished files to the user: their paths go into
// the thread's artifacts, which clients list and open.
package present

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// maxFiles bounds one call.
const maxFiles = 100

//go:embed present_files.md
var description string

type presentArgs struct {
	Filepaths []string `json:"filepaths" doc:"Absolute paths of the files, below /mnt/user-data/outputs."`
}

// New returns the present_files tool for a thread's files.
func New(files *sandbox.Files) tool.Tool {
	spec := tool.Spec{Name: "present_files", Description: strings.TrimSpace(description), Effect: tool.Idempotent}
	return tool.MustNew(spec, func(_ context.Context, _ *tool.Call, in presentArgs) (*tool.Result, error) {
		return present(files, in.Filepaths), nil
	})
}

// present takes all files or none: a model that is told of one bad path sends the whole list again.
func present(files *sandbox.Files, paths []string) *tool.Result {
	if len(paths) == 0 {
		return tool.Error("Error: filepaths is empty")
	}
	if len(paths) > maxFiles {
		return tool.Error(fmt.Sprintf("Error: %d files are too many for one call, the limit is %d. Put them into an "+
			"archive, or present the important ones.", len(paths), maxFiles))
	}
	var found []string
	for _, p := range paths {
		clean, problem := check(files, p)
		if problem != "" {
			return tool.Error("Error: " + problem)
		}
		if !slices.Contains(found, clean) {
			found = append(found, clean)
		}
	}
	res := tool.Text("Successfully presented files")
	res.Summary = fmt.Sprintf("Presented %d file(s)", len(found))
	res.Update = threadstate.Artifacts.Put(found)
	return res
}

// check returns the clean path of a file that can be presented, or why it cannot.
func check(files *sandbox.Files, name string) (clean, problem string) {
	shown := excerpt.Clip(name, 500)
	clean, err := sandbox.CleanPath(name)
	if err != nil || !strings.HasPrefix(clean, sandbox.Outputs+"/") {
		return "", "Only files in " + sandbox.Outputs + " can be presented: " + shown
	}
	if strings.Contains(path.Dir(clean)+"/", "/.") { // where results and images are kept for the model
		return "", "Files in hidden folders cannot be presented; copy it out of there first: " + shown
	}
	h, err := files.Open(clean)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "File not found: " + shown
	case errors.Is(err, sandbox.ErrIsDir):
		return "", "It is a directory; present the files in it: " + shown
	case err != nil:
		return "", err.Error()
	}
	_ = h.Close()
	return clean, ""
}
