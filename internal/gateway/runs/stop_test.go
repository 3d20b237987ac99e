package runs_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestAStopOfTheServerCancelsNothing: a reader who wants its run cancelled when it goes has not gone when the server
// stops.
func TestAStopOfTheServerCancelsNothing(t *testing.T) {
	for _, how := range []string{"stream", "wait"} {
		t.Run(how, func(t *testing.T) {
			k := gateways.New(t, nil)
			server := httptest.NewServer(k)
			defer server.Close()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/runs/"+how,
				strings.NewReader(`{"input":{"messages":"wait"},"on_disconnect":"cancel"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			defer server.Client().CloseIdleConnections()
			res, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			<-k.Begun
			k.Stop()
			_, _ = io.Copy(io.Discard, res.Body) // it ends, or is cut: what was to be done is done by then
			path := strings.Split(res.Header.Get("Content-Location"), "/")
			id := path[len(path)-1]
			run, err := k.Data().Run(t.Context(), id)
			if err != nil || run.Status != event.StatusRunning || run.Stop != "" {
				t.Errorf("the run is %s, asked for %q, %v", run.Status, run.Stop, err)
			}
			k.Free()
			gateways.Eventually(t, func() bool {
				run, err = k.Data().Run(t.Context(), id)
				return err != nil || !run.Active()
			})
			if run.Status != event.StatusSuccess {
				t.Errorf("the run ended as %s, %v", run.Status, err)
			}
		})
	}
}
