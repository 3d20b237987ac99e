package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// finish hands out the presented files, tells what the run took, and turns its end into an exit code.
func (t *turn) finish(ctx context.Context, out runs.Outcome) error {
	saved, err := t.copyOut(ctx, threadstate.Artifacts.Get(out.State))
	line := t.summary
	if len(saved) > 0 {
		line = "files: " + strings.Join(saved, " ") + "      " + line
	}
	t.io.tell(t.io.errStyle().dim, line)
	switch {
	case out.Run.StopReason == store.Cancelled:
		return &codeError{ExitCancelled, fmt.Errorf("cancelled; continue with: %s --thread %s \"…\"", t.again(),
			t.thread)}
	case out.Run.Status == event.StatusError && t.flags.choices.Agent != "" &&
		strings.Contains(out.Run.Error, agents.ErrNotFound.Error()):
		return usageError("%s", inert.Line(out.Run.Error)) // a server finds out when the run begins
	case out.Run.Error == store.Undelivered:
		t.io.tell(nil, fmt.Sprintf("! it presented none of the outputs that it made; see them with: pudu threads "+
			"files %s outputs", t.thread))
	case out.Run.Status == event.StatusError:
		return &codeError{ExitFailed, errors.New(inert.Line(out.Run.Error))}
	case err != nil:
		return &codeError{ExitFailed, err}
	case out.Run.StopReason != "":
		t.io.tell(nil, fmt.Sprintf("stopped early (%s); continue with: %s --thread %s \"go on\"", out.Run.StopReason,
			t.again(), t.thread))
	}
	return nil
}

// copyOut copies presented files into the --out folder and returns where they are. A file of another content that is
// there already is kept: the copy gets a number.
func (t *turn) copyOut(ctx context.Context, artifacts []string) ([]string, error) {
	if t.flags.out == "" || len(artifacts) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(t.flags.out, 0o755); err != nil { //nolint:gosec // a folder of the user, like those that he makes
		return nil, fmt.Errorf("--out: %w", err)
	}
	var saved []string
	for _, virtual := range artifacts {
		raw, err := t.session.Runner.ReadFile(ctx, t.thread, virtual, maxUpload)
		if errors.Is(err, fs.ErrNotExist) { // removed after it was presented
			continue
		}
		if err != nil {
			return saved, fmt.Errorf("copy %s: %w", virtual, err)
		}
		rel := strings.TrimPrefix(virtual, sandbox.Outputs+"/")
		to, err := place(t.flags.out, filepath.FromSlash(path.Clean(rel)), raw)
		if err != nil {
			return saved, fmt.Errorf("--out: %w", err)
		}
		saved = append(saved, to)
	}
	return saved, nil
}

// place writes the file below dir under the first free name: name, name-1, name-2 ... A file that holds the same is
// left as it is.
func place(dir, rel string, raw []byte) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return "", err
	}
	ext := filepath.Ext(rel)
	for i := 0; ; i++ {
		name := rel
		if i > 0 {
			name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(rel, ext), i, ext)
		}
		err := sandbox.WriteNew(root, name, raw)
		if errors.Is(err, fs.ErrExist) {
			if old, err := root.ReadFile(name); err == nil && bytes.Equal(old, raw) {
				return shown(dir, name), nil
			}
			continue
		}
		return shown(dir, name), err
	}
}

// shown is a path as a person would type it.
func shown(dir, name string) string {
	p := filepath.Join(dir, name)
	if !filepath.IsAbs(p) && !strings.HasPrefix(p, "..") {
		p = "." + string(filepath.Separator) + p
	}
	return p
}

// offerKey tells a person at a terminal that the model is missing, and offers to keep a key. It returns true when one
// was kept.
func offerKey(app App, missing error, stdio IO) (bool, error) {
	stdio.tell(nil, fmt.Sprintf("There is %v", missing))
	fmt.Fprint(stdio.Err, "Paste a key to keep it for later, or press Enter to leave: ")
	value, err := stdio.hiddenLine()
	if err != nil || value == "" {
		return false, &codeError{ExitUsage, errors.New("no key was given, and there is no model")}
	}
	name := app.Key(value)
	if name == "" {
		return false,
			usageError("this looks like no key that Pudu knows; set the provider's variable instead, for example " +
				"OPENAI_API_KEY")
	}
	file, err := app.Keep(name, value)
	if err != nil {
		return false, &codeError{ExitFailed, fmt.Errorf("keep the key: %w", err)}
	}
	fmt.Fprintf(stdio.Err, "Kept as %s in %s (readable by you alone).\n", name, file)
	return true, nil
}
