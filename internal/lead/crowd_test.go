package lead_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// crowded is a vendor's server that refuses, with 429, what is beyond its limits: in any minute, and at once.
type crowded struct {
	requests, tokens, concurrent int

	mu      sync.Mutex
	under   int
	taken   []time.Time
	refused int
}

// perCall is what the server counts for each call.
const perCall = 3200

func (s *crowded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if wait := s.enter(); wait > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds()+1)))
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range []string{
		`{"id":"1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"done"}}]}`,
		`{"id":"1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		fmt.Sprintf(`{"id":"1","model":"m","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":200,"total_tokens":%d}}`, perCall-200, perCall),
		"[DONE]",
	} {
		if data == "[DONE]" {
			s.leave() // before the client can know that it is done
		}
		time.Sleep(time.Second)
		fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
	}
}

// enter takes a call in, or says how long it must wait.
func (s *crowded) enter() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for len(s.taken) > 0 && now.Sub(s.taken[0]) >= time.Minute {
		s.taken = s.taken[1:]
	}
	switch {
	case s.under >= s.concurrent:
		s.refused++
		return time.Second
	case len(s.taken) >= s.requests || (len(s.taken)+1)*perCall > s.tokens:
		s.refused++
		return s.taken[0].Add(time.Minute).Sub(now)
	}
	s.under, s.taken = s.under+1, append(s.taken, now)
	return 0
}

func (s *crowded) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under--
}

// pipes is a listener without a network, so that the clock of a test can stand still.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// TestTwoHundredRunsOnOneKey: they all finish, in their turn. A server whose limits are those of the configuration
// refuses none of their calls; one that allows less, since others use the key too, makes none of them fail.
func TestTwoHundredRunsOnOneKey(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server *crowded
		clean  bool
	}{
		{"the limits are right", &crowded{requests: 60, tokens: 100_000, concurrent: 8}, true},
		{"the vendor allows less", &crowded{requests: 20, tokens: 70_000, concurrent: 5}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queued := tt.server.visit(t, 200)
				if tt.server.refused > 0 == tt.clean || queued < 150 {
					t.Errorf("%d calls were refused, %d runs were told that they wait", tt.server.refused, queued)
				}
			})
		})
	}
}

// visit makes n runs with one key and returns how many were told that they wait.
func (s *crowded) visit(t *testing.T, n int) (queued int) {
	t.Helper()
	listener := make(pipes)
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	transport := &http.Transport{DialContext: listener.dial, MaxIdleConnsPerHost: n}
	defer func() {
		transport.CloseIdleConnections()
		server.Close()
		serving.Wait()
	}()
	entry := config.Model{Name: "a", BaseURL: "http://vendor.test/v1", Key: "k",
		RateLimit: config.RateLimit{RequestsPerMinute: 60, TokensPerMinute: 100_000, Concurrent: 8}}
	cfg := config.Default()
	cfg.Models = []config.Model{entry}
	guard := lead.NewModelGuards(cfg, nil).Of(entry)
	m := openai.New(openai.Config{BaseURL: entry.BaseURL, APIKey: "k", Model: "m",
		Client: &http.Client{Transport: transport}})
	place := newThread(t, nil).cfg.Thread.Space
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range n {
		a, err := lead.Build(lead.Config{
			Settings: cfg, Models: lead.Models{Main: lead.Candidate{Model: m, Entry: entry, Guard: guard}},
			Choice: agents.Choice{Model: entry}, Thread: lead.Thread{Space: place},
			Sandbox: lead.Sandbox{Off: "no sandbox"},
		})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			in := message.New(message.Human, "go")
			in.ID = "in"
			told := 0
			rt := &agent.Runtime{ThreadID: fmt.Sprint("t", i), RunID: fmt.Sprint("r", i), UserID: "u",
				Input: agent.Messages.Append(in)}
			rt.Emit = func(_ string, d event.Data) {
				if c, ok := d.(event.Custom); ok && strings.Contains(string(c.Value), `"llm_queued"`) {
					told++
				}
			}
			end, err := a.Run(t.Context(), rt, state.State{})
			msgs := agent.Messages.Get(end)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || msgs[len(msgs)-1].Text() != "done" || told > 1 {
				raw, _ := json.Marshal(msgs[len(msgs)-1])
				t.Errorf("run %d: told %d times, error %v: %s", i, told, err, raw)
			}
			queued += told
		})
	}
	wg.Wait()
	return queued
}
