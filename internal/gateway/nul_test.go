package gateway_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

// TestNULIsCarried: a NUL in a message, in metadata or in the context comes back as it was sent, whatever the database.
// A title, which databases keep as text, has U+FFFD in its place.
func TestNULIsCarried(t *testing.T) {
	pg, err := pgtest.Start(t.Context(), pgtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pg.Stop(); err != nil {
			t.Error(err)
		}
	})
	for name, database := range map[string]sqlstore.Config{"sqlite": {Dir: t.TempDir()},
		"postgres": {URL: pg.URL("postgres")}} {
		t.Run(name, func(t *testing.T) {
			k := gateways.NewAt(t, database, agent.Config{Tools: gateways.Tools()}, nil)
			const sent = `{"id":"i\u0000","content":"a\u0000b","type":"human","name":"n\u0000"}`
			k.Play([]gateways.Scenario{
				{
					Name: "a run", Method: "POST", Path: "/threads/nul/runs/wait", Status: 200,
					Body: `{"if_not_exists":"create","input":{"messages":[` + sent +
						`]},"metadata":{"m":"\u0000"},"context":{"c\u0000":"\u0000"}}`,
					Want: `{"messages":[` + sent + `,{"type":"ai"}]}`,
				},
				{
					Name: "its state", Method: "GET", Path: "/threads/nul/state", Status: 200,
					Want: `{"values":{"messages":[` + sent + `,{"type":"ai"}]}}`,
				},
				{Name: "its history", Method: "GET", Path: "/threads/nul/history", Status: 200},
				{
					Name: "a state", Method: "POST", Path: "/threads/nul/state", Status: 200,
					Body: fmt.Sprintf(`{"values":{"messages":[%s]}}`, sent),
				},
			})
			run := k.RunsOf("nul")[0]
			k.Play([]gateways.Scenario{
				{
					Name: "the run", Method: "GET", Path: "/threads/nul/runs/" + run.ID, Status: 200,
					Want: `{"metadata":{"m":"\u0000"},"kwargs":{"context":{"c\u0000":"\u0000"}}}`,
				},
				{Name: "its thread", Method: "GET", Path: "/threads/nul", Status: 200},
			})
			if w := k.Do("GET", "/threads/nul/runs/"+run.ID+"/stream?stream_mode=values", ""); w.Code != http.StatusOK {
				t.Errorf("its stream: %d %s", w.Code, w.Body)
			}
			thread, err := k.Data().Thread(t.Context(), "nul")
			if err != nil || thread.Title != "a\uFFFDb" {
				t.Errorf("title %q, %v", thread.Title, err)
			}
		})
	}
}
