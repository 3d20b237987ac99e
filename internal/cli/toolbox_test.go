package cli

import (
	"bufio"
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/feature/toolbox"
)

// TestTheToolboxIsOfferedOnce: where a person is who can answer, and not again after a no.
func TestTheToolboxIsOfferedOnce(t *testing.T) {
	index := httptest.NewServer(nil)
	t.Cleanup(index.Close)
	dir := filepath.Join(t.TempDir(), "toolbox")
	kit := func() *toolbox.Kit {
		box := toolbox.New(toolbox.Config{Dir: dir, Index: index.URL, HTTP: index.Client(),
			Log: slog.New(slog.DiscardHandler)})
		k := toolbox.NewKit(box, func(context.Context) (toolbox.Target,
			error) {
			return toolbox.ParseTarget("3.11", "amd64")
		}, slog.New(slog.DiscardHandler))
		t.Cleanup(k.Close)
		return k
	}
	asked := func(k *toolbox.Kit, answer string, tty bool) string {
		var errs strings.Builder
		offer(t.Context(), IO{In: bufio.NewReader(strings.NewReader(answer)), Err: &errs, InTTY: tty, ErrTTY: true,
			Plain: true}, k)
		return errs.String()
	}
	k := kit()
	if got := asked(k, "y\n", false); got != "" || k.Declined() {
		t.Errorf("without a terminal: %q", got)
	}
	if got := asked(k, "", true); !strings.Contains(got, "MiB are downloaded") || k.Declined() {
		t.Errorf("no answer: %q", got)
	}
	if got := asked(k, "\n", true); !strings.Contains(got, "not asked again") || !k.Declined() {
		t.Errorf("no: %q", got)
	}
	if got := asked(kit(), "y\n", true); got != "" {
		t.Errorf("again: %q", got)
	}
	dir = filepath.Join(t.TempDir(), "toolbox")
	if got := asked(kit(), "yes\n", true); !strings.Contains(got, "It is being installed") {
		t.Errorf("yes: %q", got)
	}
}

func TestWhereTheToolboxStands(t *testing.T) {
	for state, want := range map[string]string{
		toolbox.Missing: "none: programs have", toolbox.Installing: "is being installed",
		toolbox.Installed: "2 packages for python3", toolbox.Outdated: "of an older Pudu",
		toolbox.Unavailable: "no Python",
	} {
		if got := standing(toolbox.Status{State: state, Packages: []string{"a", "b"},
			Why: "no Python"}); !strings.Contains(got, want) {
			t.Errorf("%s: %q", state, got)
		}
	}
}
