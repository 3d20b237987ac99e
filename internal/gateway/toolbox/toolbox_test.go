package toolbox_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// kitOf is a kit whose index has nothing, and waits with saying so until wait is closed.
func kitOf(t *testing.T, wait <-chan struct{}, unfit error) *toolbox.Kit {
	t.Helper()
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-wait:
		case <-r.Context().Done():
		}
		http.NotFound(w, r)
	}))
	box := toolbox.New(toolbox.Config{Dir: t.TempDir() + "/toolbox", Index: index.URL, HTTP: index.Client()})
	ask := func(context.Context) (toolbox.Target, error) {
		return toolbox.Target{Python: "3.12", Arch: "arm64"}, unfit
	}
	k := toolbox.NewKit(box, ask, slog.New(slog.DiscardHandler))
	t.Cleanup(index.Close)
	t.Cleanup(k.Close)
	return k
}

func TestInstallInTheBackground(t *testing.T) {
	wait := make(chan struct{})
	k := gateways.New(t, func(c *gateway.Config) { c.Toolbox = kitOf(t, wait, nil) })
	k.Play([]gateways.Scenario{
		{Name: "none", Method: "GET", Path: "/toolbox", Status: 200,
			Want: `{"state":"missing","packages":[],"total":"*"}`},
		{Name: "begin", Method: "POST", Path: "/toolbox", Status: 200,
			Want: `{"state":"installing","packages":[],"step":"download","total":"*"}`},
		{Name: "again", Method: "POST", Path: "/api/toolbox", Status: 200,
			Want: `{"state":"installing","packages":[],"step":"download","total":"*"}`},
		{Name: "under way", Method: "GET", Path: "/toolbox", Status: 200, Want: `{"state":"installing"}`},
		{Name: "info", Method: "GET", Path: "/info", Status: 200, Want: `{"toolbox":"installing"}`},
	})
	close(wait)
	for strings.Contains(k.Do("GET", "/toolbox", "").Body.String(), "installing") {
		time.Sleep(time.Millisecond)
	}
	k.Play([]gateways.Scenario{{Name: "failed", Method: "GET", Path: "/toolbox", Status: 200,
		Want: `{"state":"missing","why":"*","packages":[],"total":"*"}`}})
}

func TestWhoMayInstall(t *testing.T) {
	none := fmt.Errorf("python 2.7: %w", toolbox.ErrTarget)
	for role, want := range map[access.Role]int{access.Viewer: 403, access.Regular: 403, access.Admin: 409} {
		k := gateways.New(t, func(c *gateway.Config) { c.Toolbox, c.Role = kitOf(t, nil, none), role })
		k.Play([]gateways.Scenario{
			{Name: string(role), Method: "GET", Path: "/toolbox", Status: 200,
				Want: `{"state":"unavailable","packages":[],"why":"python 2.7: there is no toolbox for it"}`},
			{Name: string(role), Method: "POST", Path: "/toolbox", Status: want},
		})
	}
}
