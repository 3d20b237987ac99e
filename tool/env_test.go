package tool_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/tool"
)

// TestTheZeroEnvSaysWhatIsMissing, whatever is asked of it.
func TestTheZeroEnvSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	var env tool.Env
	ctx := t.Context()
	for want, ask := range map[string]func() error{
		"files":           func() error { _, err := env.Files(); return err },
		"sandbox":         func() error { _, err := env.Shell(ctx); return err },
		"model for cheap": func() error { _, err := env.Model(tool.CheapModel); return err },
		"follows":         func() error { return env.Later(tool.Job{}) },
		"items put":       func() error { return env.Items().Put(ctx, tool.Item{}) },
		"items get":       func() error { _, err := env.Items().Get(ctx, nil, ""); return err },
		"items delete":    func() error { return env.Items().Delete(ctx, nil, "") },
		"items search":    func() error { _, err := env.Items().Search(ctx, nil, "", 1); return err },
		"HTTP": func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://example.com", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			res, err := env.HTTP().Do(req)
			if err == nil {
				res.Body.Close()
			}
			return err
		},
	} {
		what, _, _ := strings.Cut(want, " ")
		if err := ask(); !errors.Is(err, tool.ErrNotSetUp) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
