package lead

import (
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/sandbox"
)

// Folder is what the model is told of the folder that its thread is in.
type Folder struct {
	Instructions string
	// Files are the names of the first files that it has, and More is how many others there are.
	Files []string
	More  int
}

// MaxFolderFiles is how many files of a folder are named.
const MaxFolderFiles = 50

// section is what stands behind the system prompt.
func (f Folder) section() string {
	var b strings.Builder
	if strings.TrimSpace(f.Instructions) != "" {
		b.WriteString("\n\n<folder_instructions>\nThe person has put this thread into a folder, whose instructions " +
			"are:\n" +
			strings.ReplaceAll(f.Instructions, "</folder_instructions", "< /folder_instructions") +
			"\n</folder_instructions>")
	}
	if len(f.Files) == 0 {
		return b.String()
	}
	b.WriteString("\n\n<folder_files>\nThe person's files for all threads of this folder are below " + sandbox.Folder +
		". They are read-only: copy what you want to change.\n")
	for _, name := range f.Files {
		b.WriteString("- " + strings.ReplaceAll(untrusted.Line(name), "</folder_files", "< /folder_files") + "\n")
	}
	if f.More > 0 {
		fmt.Fprintf(&b, "- and %d more\n", f.More)
	}
	b.WriteString("</folder_files>")
	return b.String()
}
