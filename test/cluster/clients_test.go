//go:build linux

package cluster

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
	"github.com/pudu-ai/pudu/test/viewer"
)

// dial opens a connection that ends with the test, and sends something.
func dial(t testing.TB, n *node, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", n.Address())
	server.Must(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = io.WriteString(conn, text)
	server.Must(t, err)
	return conn
}

// streamRequest asks for the stream of a run.
func streamRequest(r run) string {
	return "GET " + r.path() + "/stream?stream_mode=" + modes + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
}

// TestSlowClients: clients that read slowly or not at all cost a bounded amount of memory and hold up nobody; who reads
// slowly gets everything in the end.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	p, _ := alone(t)
	n := p.start(t, options{})
	const words, deaf = 10_000, 100
	warm := follow(t, at(n), n.submit("warm", plan{Plan: "warm", Words: words}, nil))
	warm.End()
	before := n.RSS()

	r := n.submit("fast", plan{Plan: "fast", Words: words}, nil)
	for range deaf {
		conn := dial(t, n, streamRequest(r))
		server.Must(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	}
	slow := make(chan []viewer.Frame, 1)
	go func() {
		resp, err := viewer.Client.Get(n.URL + r.path() + "/stream?stream_mode=" + modes)
		if err != nil {
			slow <- nil
			return
		}
		defer resp.Body.Close()
		var fs []viewer.Frame
		_ = viewer.Read(&slowReader{r: resp.Body}, func(f viewer.Frame) { fs = append(fs, f) })
		slow <- fs
	}()
	start := time.Now()
	v := follow(t, at(n), r)
	v.End()
	t.Logf("%d words for a client that reads, beside %d that do not: %v", words, deaf,
		time.Since(start).Round(time.Millisecond))
	all := n.readAll(r)
	viewer.Compare(t, v.Seen(), all)
	if now := n.look(r); now.Status != "success" {
		t.Errorf("%+v", now)
	}
	perClient := (n.RSS() - before) / deaf
	t.Logf("%d KiB for each client that does not read", perClient>>10)
	if perClient > 6<<20 && !server.Raced { // the events of the message that was shown meanwhile, and no more
		t.Errorf("a client that does not read costs %d KiB", perClient>>10)
	}
	viewer.Compare(t, <-slow, all)
}

// slowReader reads a little at a time, with pauses.
type slowReader struct {
	r io.Reader
	n int
}

func (s *slowReader) Read(p []byte) (int, error) {
	if s.n++; s.n%8 == 0 {
		time.Sleep(time.Millisecond)
	}
	return s.r.Read(p[:min(len(p), 4<<10)])
}

// TestIdleConnections: ten thousand connections that do nothing cost some kilobytes each, and nobody waits for them.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	var limit syscall.Rlimit
	server.Must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	limit.Cur = limit.Max
	server.Must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	count := min(10_000, int(min(limit.Max, 1<<20))/2-1500) // the others are the server's for runs, and this process's
	p, _ := alone(t)
	n := p.start(t, options{})
	request(t, http.MethodGet, n.URL+"/ok", "")
	before := n.RSS()
	const ask = "GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n"
	conns := make([]net.Conn, count)
	var dialing sync.WaitGroup
	const dialers = 8
	for d := range dialers {
		dialing.Go(func() {
			buf := make([]byte, 4<<10)
			for i := d; i < count; i += dialers {
				conn, err := net.Dial("tcp", n.Address())
				if err == nil {
					conns[i] = conn
					_, err = io.WriteString(conn, ask)
				}
				if err == nil {
					_, err = conn.Read(buf)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	dialing.Wait()
	defer func() {
		for _, c := range conns {
			if c != nil {
				c.Close()
			}
		}
	}()
	if t.Failed() {
		return
	}
	each := (n.RSS() - before) / int64(count)
	times := newQuickest(t, 2*time.Second)
	for range 20 {
		start := time.Now()
		if status, _ := request(t, http.MethodGet, n.URL+"/ok", ""); status != http.StatusOK {
			t.Errorf("HTTP %d", status)
		}
		times.took("a request beside idle connections", time.Since(start))
	}
	r := n.submit("beside", plan{Plan: "beside", Words: 5}, nil)
	n.succeeds(r)
	t.Logf("%d connections, %d bytes each", count, each)
	if each > 64<<10 && !server.Raced {
		t.Errorf("an idle connection costs %d bytes", each)
	}
	if _, err := io.WriteString(conns[count/2], ask); err != nil {
		t.Errorf("an idle connection is of no use any more: %v", err)
	}
}

// TestLargeMessages: a megabyte comes in, goes out in one piece, is kept, and goes to the model again.
func TestLargeMessages(t *testing.T) {
	t.Parallel()
	p, _ := alone(t)
	n := p.start(t, options{})
	const size = 1 << 20
	what := plan{Plan: "large", Words: 2, Size: size, Padding: strings.Repeat("p", size)}
	for turn := range 2 {
		r := n.submit("large", what, nil)
		v := follow(t, at(n), r)
		v.End()
		if turn > 0 {
			v.check(n)
		}
		n.succeeds(r)
		var state struct {
			Values struct {
				Messages []struct{ Type, Content string }
			}
		}
		n.api(http.MethodGet, "/threads/large/state", "", &state)
		// the date
		msgs := slices.DeleteFunc(state.Values.Messages,
			func(m struct{ Type, Content string }) bool { return m.Type == "system" })
		if len(msgs) != 2*turn+2 {
			t.Fatalf("turn %d: the thread has %d messages", turn, len(msgs))
		}
		if in, out := len(msgs[2*turn].Content), len(msgs[2*turn+1].Content); in < size || out != size+len("w1 w2 .") {
			t.Errorf("turn %d: %d bytes came in, %d went out", turn, in, out)
		}
	}
	status, raw := request(t, http.MethodPost, n.URL+"/threads/large/runs",
		order(plan{Padding: strings.Repeat("p", 17<<20)}, nil))
	if status != http.StatusRequestEntityTooLarge {
		t.Errorf("17 MiB: HTTP %d %.200s", status, raw)
	}
	status, raw = request(t, http.MethodPost, n.URL+"/runs/wait", order(what, map[string]any{"if_not_exists": nil}))
	if status != http.StatusOK || len(raw) < 2*size {
		t.Errorf("wait: HTTP %d with %d bytes", status, len(raw))
	}
}

// TestHostileRequests: whatever comes is answered with less than 500, or cut off, and does no harm to those beside it.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	p, m := alone(t)
	n := p.start(t, options{})
	r := n.submit("target", plan{Plan: "target", Hold: "hostile"}, nil)
	v := follow(t, at(n), r)
	v.More(3)
	get := func(path, headers string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "Connection: close\r\n\r\n"
	}
	post := func(path, headers, body string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers +
			"Connection: close\r\n\r\n" + body
	}
	long := strings.Repeat("a", 100<<10)
	for _, c := range []struct {
		name, text string
		status     []int // allowed; nil is any below 500
	}{
		{"a control character in a header", get("/ok", "X-Evil: a\x01b\r\n"), []int{400}},
		{"NUL in a header", get("/ok", "X-Evil: a\x00b\r\n"), []int{400}},
		{"a line break in a header", get("/ok", "X-Evil: a\rb\r\n"), []int{400}},
		{"a header without a name", get("/ok", ": x\r\n"), []int{400}},
		{"unicode in a header", get("/ok", "X-Evil: \u202eäö\U0001f98c\r\n"), []int{200}},
		{"a header of 100 KB", get("/ok", "X-Long: "+long+"\r\n"), []int{431}},
		{"a path of 100 KB", get("/threads/"+long, ""), []int{431, 414}},
		{"1000 headers", get("/ok", strings.Repeat("X-Many: 1\r\n", 1000)), []int{200}},
		{"10,000 headers", get("/ok", strings.Repeat("X-Many: 1\r\n", 10_000)), []int{431}},
		{"no Host", "GET /ok HTTP/1.1\r\nConnection: close\r\n\r\n", []int{400}},
		{"two Hosts", get("/ok", "Host: example.com\r\n"), []int{400}},
		{"another Host", "GET /threads/target HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", []int{403}},
		{"another Host in the request line",
			"GET http://evil.example/threads/target HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			[]int{403}},
		{"a foreign page", get("/threads/target", "Origin: https://evil.example\r\n"), []int{403}},
		{"two Content-Lengths", post("/threads/search", "Content-Length: 2\r\nContent-Length: 3\r\n", "{}x"),
			[]int{400}},
		{"a negative Content-Length", post("/threads/search", "Content-Length: -2\r\n", "{}"), []int{400}},
		{"an endless Content-Length", post("/threads/search", "Content-Length: 99999999999999999999\r\n", "{}"),
			[]int{400}},
		{"Content-Length and chunks", post("/threads/search", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
			"2\r\n{}\r\n0\r\n\r\n"), []int{200, 400}},
		{"an unknown Transfer-Encoding", post("/threads/search", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
			[]int{400, 501}},
		{"chunks that are none", post("/threads/search", "Transfer-Encoding: chunked\r\n", "zz\r\nfoo\r\n\r\n"),
			[]int{400}},
		{"a chunk with a negative size", post("/threads/search", "Transfer-Encoding: chunked\r\n", "-1\r\nfoo\r\n\r\n"),
			[]int{400}},
		{"a chunk larger than any", post("/threads/search", "Transfer-Encoding: chunked\r\n",
			"ffffffffffffffff1\r\nfoo\r\n\r\n"), []int{400}},
		{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []int{400}},
		{"HTTP/9.9", "GET /ok HTTP/9.9\r\nHost: localhost\r\n\r\n", []int{400, 505}},
		{"an unknown method", "EAT /threads/target HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			[]int{405}},
		{"CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nConnection: close\r\n\r\n",
			[]int{403, 404, 405}},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", nil},
		{"TRACE", "TRACE /ok HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{405}},
		{"a thread above all", get("/threads/..%2f..%2f..%2fetc%2fpasswd/state", ""), []int{404, 422}},
		{"a thread of dots", get("/threads/../state", ""), []int{404, 422}},
		{"a thread of encoded dots", get("/threads/%2e%2e/state", ""), []int{404, 422}},
		{"a new thread above all", post("/threads/%2e%2e%2f%2e%2e/runs", "Content-Length: 27\r\n",
			`{"if_not_exists": "create"}`), []int{404, 422}},
		{"NUL in a thread", get("/threads/a%00b/state", ""), []int{404, 422}},
		{"no UTF-8 in a thread", get("/threads/%ff%fe/state", ""), []int{404, 422}},
		{"unicode in a thread", get("/threads/%F0%9F%A6%8C/state", ""), []int{404, 422}},
		{"a long thread", get("/threads/"+long[:10<<10]+"/state", ""), []int{404, 422}},
		{"a run above all", get("/threads/target/runs/..%2f..", ""), []int{404, 422}},
		{"NUL in a run", get("/threads/target/runs/a%00b/stream", ""), []int{404, 422}},
		{"SQL in a run", get("/threads/target/runs/1'%20OR%20'1'='1", ""), []int{404, 422}},
		{"NUL in a checkpoint", get("/threads/target/state/a%00b", ""), []int{404, 422}},
		{"an artifact above all",
			get("/threads/target/artifacts/mnt/user-data/outputs/..%2f..%2f..%2f..%2fetc%2fpasswd", ""),
			[]int{400, 403, 404, 422}},
		{"an artifact of NUL", get("/threads/target/artifacts/mnt/user-data/outputs/a%00b", ""),
			[]int{400, 403, 404, 422}},
		{"a broken escape", "GET /threads/%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{400}},
		{"a key of control characters",
			post("/api/threads/target/runs", "Idempotency-Key: \u202e\U0001f98c\r\nContent-Length: 2\r\n", `{}`),
			[]int{409, 422}},
		{"a key of 100 KB", post("/threads/target/runs", "Idempotency-Key: "+long+"\r\nContent-Length: 2\r\n", `{}`),
			[]int{431}},
		{"deep JSON", post("/threads/search", "Content-Length: 20000\r\n", strings.Repeat("[", 10_000)+
			strings.Repeat("]", 10_000)), []int{422}},
		{"NUL in a body", post("/threads/search", "Content-Length: 29\r\n", `{"metadata":{"a":"\u0000\u0"}}`[:29]),
			[]int{422}},
		{"no UTF-8 in a body", post("/threads/search", "Content-Length: 4\r\n", "{\"\xff\""), []int{422}},
	} {
		status, body := ask(t, n, c.text)
		if c.status == nil && status >= 500 || c.status != nil && !slices.Contains(c.status, status) {
			t.Errorf("%s: HTTP %d, want %v: %.200s", c.name, status, c.status, body)
		}
	}
	n.hostileIDs(t, r)
	n.oldAndImpatient(t)
	m.open("hostile")
	v.End()
	v.check(n)
	if v.Connected() != 1 {
		t.Errorf("the client beside needed %d connections", v.Connected())
	}
}

// ask sends bytes and reads one answer. Status 0 means that the connection was cut.
func ask(t testing.TB, n *node, text string) (int, string) {
	t.Helper()
	conn, err := net.Dial("tcp", n.Address())
	server.Must(t, err)
	defer conn.Close()
	server.Must(t, conn.SetDeadline(time.Now().Add(server.Patience)))
	_, _ = io.WriteString(conn, text) // the server may cut it off in the middle
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
	return resp.StatusCode, string(raw)
}

// hostileIDs come as Last-Event-ID: what is no id of the run means its beginning, what is behind it nothing more.
func (n *node) hostileIDs(t *testing.T, r run) {
	t.Helper()
	for _, last := range []string{
		"-1", "0-0", "1-0", "99999999999999999999-1", "1-99999999999999999999", "1-1.99999999999", "1-1.-1",
		"a\U0001f98cb", "../..", "%00", strings.Repeat("1", 10<<10), "1-" + strings.Repeat("9", 10<<10),
		"1-1\r\nLast-Event-ID: 1-2", "", " ",
	} {
		conn := dial(t, n, "GET "+r.path()+"/stream HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: "+last+"\r\n\r\n")
		server.Must(t, conn.SetDeadline(time.Now().Add(server.Patience)))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("Last-Event-ID %.60q: %v %+v", last, err, resp)
			continue
		}
		var first viewer.Frame
		_ = viewer.Read(resp.Body, func(f viewer.Frame) { // until the connection is closed
			if first.ID == "" {
				first = f
				conn.Close()
			}
		})
		if first.ID != "1-1" && !strings.Contains(last, "Last-Event-ID") {
			t.Errorf("Last-Event-ID %.60q: the first frame is %+v", last, first)
		}
	}
}

// TestAHeadThatDoesNotCome: a client that does not finish the head of its request is cut off.
func TestAHeadThatDoesNotCome(t *testing.T) {
	t.Parallel()
	p, _ := alone(t)
	n := p.start(t, options{})
	conn := dial(t, n, "GET /ok HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	server.Must(t, conn.SetDeadline(time.Now().Add(server.Patience)))
	if raw, err := io.ReadAll(conn); err != nil || strings.Contains(string(raw), " 200 ") {
		t.Errorf("%v %s", err, raw)
	}
}

// oldAndImpatient are clients of HTTP/1.0, and such that do not wait for an answer before they ask again.
func (n *node) oldAndImpatient(t *testing.T) {
	t.Helper()
	r := n.submit("old", plan{Plan: "old", Words: 3}, nil)
	n.succeeds(r)
	conn := dial(t, n, "GET "+r.path()+"/stream HTTP/1.0\r\nHost: localhost\r\n\r\n")
	server.Must(t, conn.SetDeadline(time.Now().Add(server.Patience)))
	raw, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(raw), "HTTP/1.0 200 ") ||
		!strings.Contains(string(raw), "\r\n\r\nevent: metadata\n") ||
		!strings.Contains(string(raw), "event: end\n") {
		t.Errorf("HTTP/1.0: %v %.1000s", err, raw)
	}
	const many = 50
	conn = dial(t, n,
		strings.Repeat("GET /threads/old HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /threads/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n{\"limit\":1}", many))
	server.Must(t, conn.SetDeadline(time.Now().Add(server.Patience)))
	src := bufio.NewReader(conn)
	for i := range 2 * many {
		resp, err := http.ReadResponse(src, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		raw, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || raw[0] != "{["[i%2] {
			t.Fatalf("answer %d: HTTP %d %v %.200s", i, resp.StatusCode, err, raw)
		}
	}
}

// TestFewDescriptors: a server that may open few files has runs wait for each other, instead of failing in the middle.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	p, _ := alone(t)
	few := filepath.Join(t.TempDir(), "few")
	server.Must(t, os.WriteFile(few, []byte("#!/bin/sh\nulimit -n 64\nexec "+program("one")+" \"$@\"\n"), 0o700))
	n := &node{server.Launch(t, few, []string{"--addr", "127.0.0.1:0", "--data", p.dir, "--config", p.config}, nil), t}
	n.Ready()
	var all []run
	for i := range 30 {
		all = append(all, n.submit(fmt.Sprint("few-", i), plan{Plan: fmt.Sprint("few", i), Bash: "echo done", Words: 2},
			nil))
	}
	for _, r := range all {
		n.succeeds(r)
	}
	if said := strings.Count(n.Out.String(), "there are few descriptors"); said != 1 ||
		strings.Contains(n.Out.String(), "too many open files") {
		t.Errorf("it was said %d times:\n%s", said, n.Out)
	}
}
