package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

var _ tool.Inspector = bash{}

// Inspect implements [tool.Inspector]: it tells what the command was, that nothing of it runs any more, and what it had
// printed. The log lies where the agent's own code can write, so that it is read like the output of any command.
func (b bash) Inspect(ctx context.Context, call *tool.Call) string {
	var in bashArgs
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return "" // such a call was never started
	}
	const shown = 2000
	return strings.Join([]string{
		"The command was:\n" + excerpt.Clip(inert.Text(in.Command), shown),
		"The sandbox that it ran in is gone, and all its processes with it, also those in the background. " +
			"What it had written to files is there.",
		b.leftover(ctx, call),
		"To find out how far it came, look at what it would have made or changed, for example with ls -la " +
			"--time-style=full-iso, " +
			"git status, or by reading the files.",
	}, "\n\n")
}

// leftover says what the command had printed.
func (b bash) leftover(ctx context.Context, call *tool.Call) string {
	h, err := newestLog(b.Space.Files(), logName(call))
	if err != nil {
		return "Nothing that it printed was kept: it had printed nothing, or only just."
	}
	defer h.Close()
	out := b.reread(ctx, h)
	text, cut := out.text(b.MaxChars, "")
	if strings.TrimSpace(text) == "" {
		text = "(nothing)"
	}
	when := ""
	if info, err := h.Stat(); err == nil {
		when = ", last at " + info.ModTime().UTC().Format(time.RFC3339)
	}
	what := "This is all that was kept of what it printed%s; it is also in %s:\n%s"
	if cut {
		what = "This is what it had printed%s; all of it is in %s:\n%s"
	}
	return fmt.Sprintf(what, when, h.Name(), text)
}

// reread takes a log for the output of a command, as far as a log may be long.
func (b bash) reread(ctx context.Context, h *sandbox.File) captured {
	out := captured{streams: [2]stream{{limit: b.MaxChars}, {}}, log: h.Name()}
	s, buf := &out.streams[0], make([]byte, 64<<10)
	for left := b.MaxLog; left > 0 && ctx.Err() == nil; {
		n, err := h.Read(buf[:min(int64(len(buf)), left)])
		s.keep(s.clean(buf[:n], false))
		if left -= int64(n); err != nil || n == 0 {
			break
		}
	}
	s.keep(s.rest())
	return out
}
