package pudu_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
)

// served is a Pudu behind an HTTP server.
func served(t *testing.T, o pudu.Options) (*pudu.Pudu, *httptest.Server) {
	t.Helper()
	if o.Config == "" {
		o.Config, o.Data = written(t, "sandbox: {use: none}\n"), t.TempDir()
	}
	p := open(t, o)
	return p, httptest.NewServer(p.Handler())
}

// ask sends a request and returns the status and the answer.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func TestTheServerIsAHandler(t *testing.T) {
	t.Parallel()
	played := &agenttest.Model{Answers: [][]message.Chunk{agenttest.Say("By HTTP."), agenttest.Say("In the program."),
		agenttest.Say("By HTTP again.")}}
	p, srv := served(t, pudu.Options{Model: played, Version: "v0.embedded"})
	if p.Handler() != p.Handler() {
		t.Error("each call makes another server")
	}
	const input = `{"assistant_id":"lead_agent","input":{"messages":"Hello."}}`
	thread := pudu.NewThreadID()
	if status, body := ask(t, http.MethodPost, srv.URL+"/threads", `{"thread_id":"`+thread+
		`"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	last := func(body string) string {
		var values struct{ Messages []struct{ Content string } }
		if err := json.Unmarshal([]byte(body), &values); err != nil || len(values.Messages) == 0 {
			t.Fatalf("%v in %s", err, body)
		}
		return values.Messages[len(values.Messages)-1].Content
	}
	_, body := ask(t, http.MethodPost, srv.URL+"/threads/"+thread+"/runs/wait", input)
	got := []string{last(body), said(t, p, pudu.Task{Thread: thread, Text: "And here?"})}
	_, body = ask(t, http.MethodPost, srv.URL+"/threads/"+thread+"/runs/wait", input)
	if d := cmp.Diff([]string{"By HTTP.", "In the program.", "By HTTP again."}, append(got, last(body))); d != "" {
		t.Error(d)
	}
	if _, body := ask(t, http.MethodGet, srv.URL+"/info", ""); !strings.Contains(body, "test/played") ||
		!strings.Contains(body, "v0.embedded") {
		t.Errorf("info: %s", body)
	}
	srv.Close()
	closed(t, p)
}

func TestWhoMayCallTheHandler(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server            pudu.Server
		host, token, page string
		want              int
	}{
		"nobody is asked, by localhost": {pudu.Server{}, "localhost", "", "", http.StatusOK},
		"nobody is asked, by a name":    {pudu.Server{}, "pudu.example.org", "", "", http.StatusForbidden},
		"the program asks, by a name":   {pudu.Server{Open: true}, "pudu.example.org", "", "", http.StatusOK},
		"a token is asked for": {pudu.Server{Token: "secret"}, "pudu.example.org", "secret", "",
			http.StatusOK},
		"a token is asked for, a wrong one came": {pudu.Server{Token: "secret"}, "localhost", "secre", "",
			http.StatusUnauthorized},
		"a page of another site": {pudu.Server{}, "localhost", "", "https://evil.example",
			http.StatusForbidden},
		"a page that may": {pudu.Server{Origins: []string{"https://app.example"}}, "localhost",
			"", "https://app.example", http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, pudu.Options{Config: written(t, "sandbox: {use: none}\n"), Data: t.TempDir(),
				Model: &agenttest.Model{}, Server: tt.server})
			defer closed(t, p)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+tt.host+"/info", http.NoBody)
			if tt.token != "" {
				r.Header.Set("Authorization", "Bearer "+tt.token)
			}
			if tt.page != "" {
				r.Header.Set("Origin", tt.page)
			}
			w := httptest.NewRecorder()
			p.Handler().ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("%d %s, want %d", w.Code, w.Body, tt.want)
			}
		})
	}
}

// TestTheHandlerGoesOnWithWhatCloseCutOff: a run that came by the handler and was under way at Close is finished by the
// next start, once that has a handler.
func TestTheHandlerGoesOnWithWhatCloseCutOff(t *testing.T) {
	t.Parallel()
	const slow = "dialogues:\n  - turns:\n      - {text: 'one two three four five six seven eight', chunk_size: 2, chunk_delay: 20ms}\n"
	begun, ended := make(chan struct{}, 1000), make(chan event.Run, 10)
	o := pudu.Options{Config: configured(t, slow, ""), Data: t.TempDir(), Events: func(e pudu.RunEvent) {
		switch data := e.Event.Data.(type) {
		case event.Chunk:
			begun <- struct{}{}
		case event.Run:
			if data.Status != event.StatusRunning {
				ended <- data
			}
		}
	}}
	p, srv := served(t, o)
	if status, body := ask(t, http.MethodPost, srv.URL+"/threads/t/runs",
		`{"assistant_id":"lead_agent","input":{"messages":"Count."},"if_not_exists":"create"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	<-begun
	srv.Close()
	closed(t, p)
	select {
	case end := <-ended:
		t.Fatalf("the run ended with the server: %+v", end)
	default:
	}
	p, srv = served(t, o)
	defer closed(t, p)
	defer srv.Close()
	if end := <-ended; end.Status != event.StatusSuccess {
		t.Errorf("it ended as %+v", end)
	}
	if s, err := p.State(context.Background(), "t"); err != nil ||
		!strings.Contains(fmt.Sprint(agent.Messages.Get(s)), "seven eight") {
		t.Errorf("the thread lacks the answer: %v", err)
	}
}
