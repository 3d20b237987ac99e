package crash

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/tool"
)

// effectsName is the file to which every effect of a tool is one line, "<call> <tool>". The tools of this program write
// the one in the folder of the run, bash the one in the thread's workspace, with the number of the line as a third
// word.
const effectsName = "effects"

// effects is the file that the tools change: what has happened in the world, outside of the database.
type effects struct{ path string }

func (e effects) add(callID, toolName string) error {
	f, err := os.OpenFile(e.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, callID, toolName)
	return errors.Join(err, f.Close())
}

// readEffects counts the lines of both files.
func readEffects(dir string) (map[string]int, error) {
	counts := make(map[string]int)
	for _, path := range []string{filepath.Join(dir, effectsName), filepath.Join(workspace(dir), effectsName)} {
		if err := countLines(path, counts); err != nil {
			return nil, fmt.Errorf("read effects: %w", err)
		}
	}
	return counts, nil
}

func countLines(path string, counts map[string]int) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		counts[lines.Text()]++
	}
	return lines.Err()
}

// deed is a tool that has one effect, in the middle of the time that it takes.
type deed struct {
	name   string
	effect tool.Effect
	took   time.Duration
}

// deeds are the tools of the script but flaky and bash. fails ends in a result that says so, breaks and fatal in a Go
// error.
func deeds() []deed {
	return []deed{
		{"note", tool.SideEffects, 5 * time.Millisecond},
		{"slow", tool.SideEffects, 24 * time.Millisecond},
		{"put", tool.Idempotent, 6 * time.Millisecond},
		{"look", tool.ReadOnly, 5 * time.Millisecond},
		{"fails", tool.SideEffects, 6 * time.Millisecond},
		{"breaks", tool.SideEffects, 6 * time.Millisecond},
		{"fatal", tool.Idempotent, 6 * time.Millisecond},
	}
}

// flakyArgs are those of the tool that fails at its first try.
type flakyArgs struct {
	Try int `doc:"The number of the try." json:"try"`
}

func newTools(e effects) []tool.Tool {
	var all []tool.Tool
	for _, d := range deeds() {
		spec := tool.Spec{Name: d.name, Description: "Does one thing.", Effect: d.effect}
		all = append(all, tool.MustNew(spec, func(ctx context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
			return d.do(ctx, e, c)
		}))
	}
	spec := tool.Spec{Name: "flaky", Description: "Fails at the first try.", Effect: tool.Idempotent}
	return append(all, tool.MustNew(spec, func(ctx context.Context, c *tool.Call, in flakyArgs) (*tool.Result, error) {
		res, err := deed{name: "flaky", took: 8 * time.Millisecond}.do(ctx, e, c)
		if err == nil && in.Try == 1 {
			return tool.Error("not yet: try again"), nil
		}
		return res, err
	}))
}

func (d deed) do(ctx context.Context, e effects, c *tool.Call) (*tool.Result, error) {
	if err := pause(ctx, d.took/2); err != nil {
		return nil, err
	}
	if err := e.add(c.ID, d.name); err != nil {
		return nil, err
	}
	if err := pause(ctx, d.took/2); err != nil {
		return nil, err
	}
	switch d.name {
	case "fails":
		return tool.Error("it did not work"), nil
	case "breaks", "fatal":
		return nil, errors.New("the tool is out of order")
	}
	return tool.Text(strings.Repeat(d.name+" is done. ", 20)), nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// marked prints a mark when a call of the tool begins and when it ends.
type marked struct {
	tool.Tool
	hold string // a call that does not end by itself
}

var _ tool.Inspector = marked{}

// Run implements [tool.Tool].
func (m marked) Run(ctx context.Context, c *tool.Call) (*tool.Result, error) {
	say(markBegin, c.ID, c.Name)
	defer say(markEnd, c.ID)
	if c.ID == m.hold {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return m.Tool.Run(ctx, c)
}

// Inspect implements [tool.Inspector], if the tool does.
func (m marked) Inspect(ctx context.Context, c *tool.Call) string {
	if i, ok := m.Tool.(tool.Inspector); ok {
		return i.Inspect(ctx, c)
	}
	return ""
}
