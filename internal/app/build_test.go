package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
)

// TestPrivateChannelsOfMiddlewaresStayPrivate: whoever looks at a thread without its agent knows which of the channels
// clients must not see.
func TestPrivateChannelsOfMiddlewaresStayPrivate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path,
		[]byte("models:\n- {name: m, provider: openai, model: m, base_url: \"http://127.0.0.1:9\", api_key: none}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(config.LoadOptions{Path: path, Env: func(string) (string, bool) { return "", false },
		Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	e, err := App{}.assemble(t.Context(), cfg, filepath.Join(dir, "data"), cli.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	for _, name := range []string{"loop_detection", "uploads_known", "compaction", "todo_work", "loop_steps"} {
		if ch, known := e.manager.Schema()[name]; !known || !ch.Private() {
			t.Errorf("channel %s: known %t, so clients see it", name, known)
		}
	}
	for _, name := range []string{"messages", "title", "todos"} {
		if ch, known := e.manager.Schema()[name]; !known || ch.Private() {
			t.Errorf("channel %s: known %t, or private", name, known)
		}
	}
}
