package modeltest

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/model"
)

// maxWait bounds every wait of the suite.
const maxWait = 10 * time.Second

// ending is what the server does after the body.
type ending int

const (
	endProper ending = iota
	endCut           // the connection breaks
	endSilent        // nothing more comes until the client leaves
	endLate          // the end of the body comes a little after its last byte, as over a network
)

// answer is one HTTP answer.
type answer struct {
	status   int
	header   http.Header
	body     []byte
	bytewise bool
	ending   ending
}

// server answers one request after the other from its list, the last answer for all that follow.
type server struct {
	t        *testing.T
	url      string
	answers  []answer
	gone     chan struct{} // receives one value for each client that left a silent answer
	mu       sync.Mutex
	requests [][]byte
	protocol int // of the last request: 1 or 2
	conns    int
}

// start runs a server and makes a model that talks to it. When the test ends, nothing of both may be left running.
func start(t *testing.T, h Harness, idle time.Duration, answers ...answer) (*server, model.ChatModel) {
	t.Helper()
	return startOver(t, h, idle, (*httptest.Server).Start, answers...)
}

// startOver is start for a server that listens as listen says.
func startOver(t *testing.T, h Harness, idle time.Duration, listen func(*httptest.Server),
	answers ...answer) (*server, model.ChatModel) {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	s := &server{t: t, answers: answers, gone: make(chan struct{}, 2*cancelled)}
	srv := httptest.NewUnstartedServer(s)
	srv.Config.ConnState = s.count
	listen(srv)
	s.url = srv.URL
	client := srv.Client()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		srv.Close()
		goleak.VerifyNone(t, leaks)
	})
	return s, h.New(Target{BaseURL: srv.URL, Key: Key, Model: ModelName, Client: client, Idle: idle})
}

func (s *server) count(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.mu.Lock()
		s.conns++
		s.mu.Unlock()
	}
}

// ServeHTTP gives the next answer.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	a := s.answers[min(len(s.requests), len(s.answers)-1)]
	s.requests, s.protocol = append(s.requests, body), r.ProtoMajor
	s.mu.Unlock()
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	step := max(len(a.body), 1)
	if a.bytewise {
		step = 1
	}
	for i := 0; i < len(a.body); i += step {
		w.Write(a.body[i:min(i+step, len(a.body))])
		w.(http.Flusher).Flush()
	}
	switch a.ending {
	case endCut:
		panic(http.ErrAbortHandler)
	case endSilent:
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		s.gone <- struct{}{}
	case endLate:
		time.Sleep(20 * time.Millisecond) // the latency is what is tested
	}
}

// sent returns the bodies of the requests so far.
func (s *server) sent() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// waitGone waits until a client has left a silent answer.
func (s *server) waitGone() {
	s.t.Helper()
	select {
	case <-s.gone:
	case <-time.After(maxWait):
		s.t.Error("the connection was not closed")
	}
}

// load reads the fixture of a case.
func load(t *testing.T, h Harness, name string) answer {
	t.Helper()
	raw, err := fs.ReadFile(h.Fixtures, name+".http")
	if err != nil {
		t.Fatalf("read fixture: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		t.Fatalf("parse fixture %s.http: %v", name, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("read body of fixture %s.http: %v", name, err)
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: body}
}

// generated is an answer of the harness's Text, with the head of the text fixture.
func generated(t *testing.T, h Harness, texts []string) answer {
	t.Helper()
	a := load(t, h, "text")
	a.body = h.Text(texts)
	return a
}
