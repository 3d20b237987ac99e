// Package uploads holds the list_uploaded_files tool, with which a model finds files that the user sent in earlier
// turns. Those of the newest message are announced by the uploads middleware.
package uploads

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/uploaded"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// Bounds of a call.
const (
	defaultResults = 20
	maxResults     = 100
	maxOutlines    = 20 // files whose content is looked at
)

//go:embed list_uploaded_files.md
var description string

// parameters is written by hand for the argument that is of two types.
const parameters = `{"type":"object","properties":{` +
	`"include_outline":{"anyOf":[{"type":"boolean"},{"type":"array","items":{"type":"string"}}],"default":false,` +
	`"description":"true, or names of files: add the headings with their lines, or the first lines."},` +
	`"max_results":{"type":"integer","default":20,"description":"At most 100."}}}`

type listArgs struct {
	IncludeOutline json.RawMessage `json:"include_outline"`
	MaxResults     *int            `json:"max_results"`
}

// spec is the same for the tools of all runs.
var spec = sync.OnceValue(func() tool.Spec {
	return tool.MustParse(tool.Spec{
		Name: "list_uploaded_files", Description: strings.TrimSpace(description),
		Parameters: json.RawMessage(parameters), Effect: tool.ReadOnly,
	})
})

// New returns the list_uploaded_files tool for a thread's files.
func New(files *sandbox.Files) tool.Tool {
	return tool.MustNew(spec(), func(ctx context.Context, call *tool.Call, in listArgs) (*tool.Result, error) {
		all, err := uploaded.List(files)
		if err != nil {
			return tool.Error("Error: " + err.Error()), nil
		}
		limit := defaultResults
		if in.MaxResults != nil {
			limit = min(max(*in.MaxResults, 1), maxResults)
		}
		list := describe(earlier(all, threadstate.UploadedFiles.Get(call.State)), limit)
		if err := list.addOutlines(ctx, files, wanted(in.IncludeOutline)); err != nil {
			return nil, err
		}
		return list.result()
	})
}

// earlier leaves out the files that the newest message announces one by one.
func earlier(all []uploaded.File, current []threadstate.UploadedFile) (rest []uploaded.File) {
	announced := make(map[string]bool)
	for _, f := range current[:min(len(current), uploaded.MaxShown)] {
		announced[f.Filename] = true
	}
	for _, f := range all {
		if !announced[f.Name] {
			rest = append(rest, f)
		}
	}
	return rest
}

// listing is what the model reads, as JSON.
type listing struct {
	Files     []entry `json:"files"`
	Total     int     `json:"total_count"`
	Truncated bool    `json:"truncated,omitempty"`
	Omitted   string  `json:"omitted_summary,omitempty"`
	Message   string  `json:"message"`

	shown []uploaded.File
}

type entry struct {
	threadstate.UploadedFile
	// TextPath is the Markdown version of a document.
	TextPath string `json:"text_path,omitempty"`
}

func describe(all []uploaded.File, limit int) *listing {
	l := &listing{Files: []entry{}, Total: len(all), shown: all[:min(len(all), limit)]}
	for _, f := range l.shown {
		e := entry{UploadedFile: f.State()}
		if f.Text != "" {
			e.TextPath = sandbox.Uploads + "/" + f.Text
		}
		l.Files = append(l.Files, e)
	}
	switch rest := all[len(l.shown):]; {
	case len(all) == 0:
		l.Message = "There are no files of earlier turns."
	case len(rest) == 0:
		l.Message = fmt.Sprintf("%d file(s) of earlier turns.", len(all))
	default:
		l.Truncated, l.Omitted = true, fmt.Sprintf("%d older: %s", len(rest), uploaded.Kinds(rest))
		l.Message = fmt.Sprintf("The newest %d of %d files of earlier turns.", len(l.shown), len(all))
	}
	return l
}

// wanted says whose outlines the model asks for.
func wanted(arg json.RawMessage) func(name string) bool {
	var all bool
	var names []string
	if json.Unmarshal(arg, &all) != nil {
		_ = json.Unmarshal(arg, &names) // the schema allows nothing else
	}
	asked := make(map[string]bool, len(names))
	for _, name := range names {
		asked[strings.TrimPrefix(name, sandbox.Uploads+"/")] = true
	}
	return func(name string) bool { return all || asked[name] }
}

// addOutlines fills in what the files hold.
func (l *listing) addOutlines(ctx context.Context, files *sandbox.Files, wanted func(name string) bool) error {
	done := 0
	for i, f := range l.shown {
		if !wanted(f.Name) {
			continue
		}
		if done++; done > maxOutlines {
			l.Message += fmt.Sprintf(" Outlines are given of %d files; ask for others by name.", maxOutlines)
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		out := f.Outline(files)
		var err error
		switch {
		case len(out.Headings) > 0:
			l.Files[i].Outline, err = json.Marshal(out.Headings)
		case len(out.Preview) > 0:
			l.Files[i].OutlinePreview, err = json.Marshal(out.Preview)
		}
		if err != nil {
			return fmt.Errorf("encode outline: %w", err)
		}
	}
	return nil
}

func (l *listing) result() (*tool.Result, error) {
	raw, err := json.Marshal(l) // escapes < and >
	if err != nil {
		return nil, fmt.Errorf("encode list: %w", err)
	}
	res := tool.Text(string(uploaded.Inert(raw)))
	res.Summary = l.Message
	return res, nil
}
