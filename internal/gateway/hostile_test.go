package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestHostileNames: what no database can keep is refused or not found, and never a failure of the server.
func TestHostileNames(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hi")
	for _, key := range []string{"\xff\xfe", "a\x00b", strings.Repeat("k", 201)} {
		r := k.Request("POST", "/threads/t/runs", `{"input":{"messages":"hi"}}`)
		r.Header.Set("Idempotency-Key", key)
		if w := k.Send(r); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("key %.10q: %d %s", key, w.Code, w.Body)
		}
	}
	k.Play([]gateways.Scenario{
		{Name: "a run with NUL", Method: "GET", Path: "/runs/a%00b", Status: 404},
		{Name: "a run that is no text", Method: "GET", Path: "/threads/t/runs/%ff", Status: 404},
		{
			Name: "a checkpoint with NUL", Method: "POST", Path: "/threads/t/runs",
			Body: `{"input":{"messages":"hi"},"checkpoint_id":"a\u0000b"}`, Status: 404,
		},
		{
			Name: "a long model", Method: "POST", Path: "/threads/t/runs",
			Body: fmt.Sprintf(`{"input":{"messages":"hi"},"config":{"configurable":{"model_name":%q}}}`,
				strings.Repeat("m", 257)),
			Status: 422,
		},
	})
}

func TestSecretsOfConfigurableAreNotKept(t *testing.T) {
	k := gateways.New(t, nil)
	w := k.Do("POST", "/runs", `{"input":{"messages":"hi"},"context":{"secrets":{"KEY":"S3CRET"},"__x":"S3CRET"},
		"config":{"secrets":"S3CRET","context":{"__x":"S3CRET"},"configurable":{"kept":"yes","secrets":{"a":"S3CRET"},"__x":"S3CRET"}}}`)
	if text := w.Body.String(); w.Code != http.StatusOK || strings.Contains(text, "S3CRET") ||
		!strings.Contains(text, `"kept":"yes"`) {
		t.Errorf("%d %s", w.Code, text)
	}
}

// TestWaitAnswersAtOnce: a client whose connection breaks while it waits knows its run, and need not begin another.
func TestWaitAnswersAtOnce(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Limits.Heartbeat = time.Hour })
	server := httptest.NewServer(k)
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/runs/wait",
		strings.NewReader(`{"input":{"messages":"wait"}}`))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if !strings.HasSuffix(res.Header.Get("Location"), "/join") {
		t.Errorf("the headers are %v", res.Header)
	}
	k.Free()
	if body, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(body), "there.") {
		t.Errorf("%s, error %v", body, err)
	}
}

// endless is a run that does not end.
type endless struct{}

func (endless) Follow(ctx context.Context, _ access.User, _ string, _ event.ID,
	_ func([]event.Event) error) (store.Run, error) {
	<-ctx.Done()
	return store.Run{}, context.Cause(ctx)
}

// TestStopEndsTheWaitForACancel: who waits for the end of a cancelled run is sent away when the server stops.
func TestStopEndsTheWaitForACancel(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Hub = endless{} })
	run := k.Start("t")
	k.Stop()
	if w := k.Do("POST", "/threads/t/runs/"+run.ID+"/cancel?wait=true", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestAHistoryIsBounded: however gateways.Large a value of the state is, a history repeats it a few times only.
func TestAHistoryIsBounded(t *testing.T) {
	const most = 400 << 10
	k := gateways.New(t, func(c *gateway.Config) { c.Limits.History = most })
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	k.Do("POST", "/threads/t/state", fmt.Sprintf(`{"values":{"summary_text":%q}}`, strings.Repeat("x", most/4)))
	for i := range 9 {
		k.Do("POST", "/threads/t/state", fmt.Sprintf(`{"values":{"title":"t%d"}}`, i))
	}
	w := k.Do("POST", "/threads/t/history", `{"limit":1000}`)
	if list, ok := jsontest.Decode(t, w.Body.Bytes()).([]any); !ok || len(list) != 11 || w.Body.Len() > most*3/2 {
		t.Errorf("%d bytes of %d states", w.Body.Len(), len(list))
	}
}
