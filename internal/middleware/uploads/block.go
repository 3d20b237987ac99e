package uploads

import (
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/uploaded"
	"github.com/pudu-ai/pudu/sandbox"
)

const (
	blockBegin = "<current_uploads>"
	blockEnd   = "</current_uploads>"
)

const (
	advice = "New files from the user. Read what you need of them (L: line of a heading; >: how the text begins). " +
		"list_uploaded_files tells of earlier ones.\n"
	// mostOutline bounds the lines about what is in the files, for all of them together.
	mostOutline = 40
)

// block is the text that stands before the user's words; empty if there is nothing to say.
func (f found) block(files *sandbox.Files) string {
	if len(f.fresh)+len(f.again)+len(f.missing) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(blockBegin + "\n")
	if len(f.fresh) > 0 {
		b.WriteString(advice)
	}
	room := mostOutline
	shown := f.fresh[:min(len(f.fresh), uploaded.MaxShown)]
	for _, file := range shown {
		room -= entry(&b, files, file, room)
	}
	if rest := f.fresh[len(shown):]; len(rest) > 0 {
		fmt.Fprintf(&b, "- and %d more: %s; ls %s shows them\n", len(rest), uploaded.Kinds(rest), sandbox.Uploads)
	}
	names := make([]string, 0, len(f.again))
	for _, file := range f.again {
		names = append(names, file.Name)
	}
	list(&b, "Sent with this message again", names)
	list(&b, "Named by this message but not there", f.missing)
	b.WriteString(blockEnd + "\n\n")
	return b.String()
}

// entry writes what there is to say of one file and returns how many of the room's lines that took.
func entry(b *strings.Builder, files *sandbox.Files, file uploaded.File, room int) (lines int) {
	fmt.Fprintf(b, "- %s (%s)\n  Path: %s\n", uploaded.ShowName(file.Name), uploaded.Size(file.Size),
		uploaded.ShowPath(file.Path()))
	if file.Text != "" {
		fmt.Fprintf(b, "  As text: %s\n", uploaded.ShowPath(sandbox.Uploads+"/"+file.Text))
	}
	if room <= 0 {
		return 0
	}
	out := file.Outline(files)
	headings := out.Headings[:min(len(out.Headings), room)]
	for _, h := range headings {
		fmt.Fprintf(b, "  L%d: %s\n", h.Line, h.Title)
	}
	if more := out.More + len(out.Headings) - len(headings); more > 0 {
		fmt.Fprintf(b, "  and %d more headings\n", more)
	}
	preview := out.Preview[:min(len(out.Preview), room)]
	for _, text := range preview {
		b.WriteString("  > " + text + "\n")
	}
	return len(headings) + len(preview)
}

// list writes names on one line.
func list(b *strings.Builder, what string, names []string) {
	if len(names) == 0 {
		return
	}
	shown := make([]string, 0, uploaded.MaxShown)
	for _, name := range names[:min(len(names), uploaded.MaxShown)] {
		shown = append(shown, uploaded.ShowName(name))
	}
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	fmt.Fprintf(b, "%s: %s\n", what, strings.Join(shown, ", "))
}
