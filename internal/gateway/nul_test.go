package gateway

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

// TestNULIsCarried: a NUL in a message, in metadata or in the context comes back as it was sent, whatever the database. A title,
// which databases keep as text, has U+FFFD in its place.
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
	for name, database := range map[string]sqlstore.Config{"sqlite": {Dir: t.TempDir()}, "postgres": {URL: pg.URL("postgres")}} {
		t.Run(name, func(t *testing.T) {
			k := newServerAt(t, database, agent.Config{Tools: kitTools()}, nil)
			const sent = `{"id":"i\u0000","content":"a\u0000b","type":"human","name":"n\u0000"}`
			k.play([]scenario{
				{
					name: "a run", method: "POST", path: "/threads/nul/runs/wait", status: 200,
					body: `{"if_not_exists":"create","input":{"messages":[` + sent + `]},"metadata":{"m":"\u0000"},"context":{"c\u0000":"\u0000"}}`,
					want: `{"messages":[` + sent + `,{"type":"ai"}]}`,
				},
				{name: "its state", method: "GET", path: "/threads/nul/state", status: 200, want: `{"values":{"messages":[` + sent + `,{"type":"ai"}]}}`},
				{name: "its history", method: "GET", path: "/threads/nul/history", status: 200},
				{name: "a state", method: "POST", path: "/threads/nul/state", status: 200, body: fmt.Sprintf(`{"values":{"messages":[%s]}}`, sent)},
			})
			run := k.runs("nul")[0]
			k.play([]scenario{
				{name: "the run", method: "GET", path: "/threads/nul/runs/" + run.ID, status: 200, want: `{"metadata":{"m":"\u0000"},"kwargs":{"context":{"c\u0000":"\u0000"}}}`},
				{name: "its thread", method: "GET", path: "/threads/nul", status: 200},
			})
			if w := k.do("GET", "/threads/nul/runs/"+run.ID+"/stream?stream_mode=values", ""); w.Code != http.StatusOK {
				t.Errorf("its stream: %d %s", w.Code, w.Body)
			}
			thread, err := k.data().Thread(t.Context(), "nul")
			if err != nil || thread.Title != "a\uFFFDb" {
				t.Errorf("title %q, %v", thread.Title, err)
			}
		})
	}
}
