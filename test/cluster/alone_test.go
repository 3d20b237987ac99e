//go:build linux

package cluster

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
	"github.com/pudu-ai/pudu/test/viewer"
)

// alone is a place for one server with SQLite.
func alone(t *testing.T) (place, *model) {
	t.Helper()
	m := newModel(t)
	return newPlace(t, m.URL), m
}

// TestKilledWith50Runs: after a restart all runs finish, and their clients, who come back to the same address, have
// seen each event once and in order.
func TestKilledWith50Runs(t *testing.T) {
	t.Parallel()
	p, m := alone(t)
	n := p.start(t, options{})
	var viewers []*reader
	for i := range 50 {
		var what plan
		switch i % 4 {
		case 2:
			what.Tools = 3
		case 3:
			what.Bash = "touch /mnt/user-data/workspace/begun; sleep 600"
		}
		what.Hold = "fifty"
		what.Plan = fmt.Sprint("fifty", i)
		r := n.submit(fmt.Sprint("f-", i), what, nil)
		viewers = append(viewers, follow(t, at(n), r))
	}
	for i := range viewers {
		server.Eventually(t, "every run has asked the model",
			func() bool { return m.asked(fmt.Sprint("fifty", i)) > 0 })
	}
	for i, v := range viewers {
		v.Await("frames", func(fs []viewer.Frame) bool { return len(fs) > 3 })
		if i%4 == 3 { // else the second attempt would begin it, and wait for its end
			n.hasBegun(fmt.Sprint("f-", i))
		}
	}
	n.Kill()
	was := make([]int, len(viewers))
	for i, v := range viewers {
		was[i] = len(v.Seen())
	}
	again := p.start(t, options{addr: n.Address()})
	ready := time.Since(again.Began)
	for _, v := range viewers {
		v.Await("the second attempt", func(fs []viewer.Frame) bool { return fs[len(fs)-1].ID[0] == '2' })
	}
	m.open("fifty")
	void := 0
	var first []time.Duration // of each run, after the start
	for i, v := range viewers {
		v.End()
		void += v.check(again)
		if now := again.look(v.run); now.Status != "success" || now.Attempt != 2 {
			t.Errorf("%+v", now)
		}
		first = append(first, v.Times()[was[i]].Sub(again.Began))
	}
	slices.Sort(first)
	t.Logf("%d pieces were void; ready %v after the start, the first recovered run went on after %v, the last after %v",
		void, ready.Round(time.Millisecond), first[0].Round(time.Millisecond),
		first[len(first)-1].Round(time.Millisecond))
	// a busy machine makes the start as slow
	if limit := max(2*time.Second, 5*ready); first[0] > limit && !server.Raced {
		t.Errorf("the first recovered run went on %v after the start, which took %v", first[0], ready)
	}
}

func TestTwoServersOnOneFolder(t *testing.T) {
	t.Parallel()
	p, _ := alone(t)
	n := p.start(t, options{})
	text := p.launch(t, options{}).Refused()
	for _, part := range []string{p.dir, fmt.Sprint(n.PID())} {
		if !strings.Contains(text, part) {
			t.Errorf("the second server does not say %q: %s", part, text)
		}
	}
	r := n.submit("first", plan{Plan: "first", Words: 3}, nil)
	n.succeeds(r)
	n.Kill()
	p.start(t, options{}) // the lock has gone with its holder
}

// TestDrain: a server that is asked to stop ends its streams and goes at once; the runs go on after the next start.
func TestDrain(t *testing.T) {
	t.Parallel()
	p, m := alone(t)
	n := p.start(t, options{})
	h := at(n)
	words := follow(t, h, n.submit("words", plan{Plan: "words", Hold: "drain"}, nil))
	bash := follow(t, h, n.submit("bash", plan{Plan: "bash", Bash: "touch /mnt/user-data/workspace/begun; sleep 60",
		Words: 3}, nil))
	words.More(3)
	n.hasBegun("bash")
	waiting := make(chan string, 1)
	go func() {
		resp, err := http.Get(n.URL + words.run.path() + "/join")
		if err == nil {
			resp.Body.Close()
		}
		waiting <- fmt.Sprint(err)
	}()
	took := n.Term()
	if took > 30*time.Second { // half of what the command takes
		t.Errorf("it took %v to stop", took)
	}
	<-waiting // a client that waits for the end is not kept waiting
	for _, v := range []*reader{words, bash} {
		if seen := v.Seen(); seen[len(seen)-1].End() {
			t.Error("a stream of a run that is under way ended with end")
		}
	}
	again := p.start(t, options{addr: n.Address()})
	words.More(3)
	m.open("drain")
	words.End()
	words.check(again)
	bash.End()
	bash.check(again)
	if now := again.look(bash.run); now.Status != "success" || now.Attempt != 2 {
		t.Errorf("%+v", now)
	}
	if !slices.ContainsFunc(bash.Seen(),
		func(f viewer.Frame) bool { return strings.Contains(f.Data, "outcome_unknown") }) {
		t.Error("the model was not told that the command's outcome is unknown")
	}
	t.Logf("it took %v to stop", took.Round(time.Millisecond))
}

func TestHowItIsReached(t *testing.T) {
	t.Parallel()
	p, _ := alone(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	server.Must(t, err)
	defer taken.Close()
	refusals := []struct {
		name string
		o    options
		says []string
	}{
		{"the address is in use", options{addr: taken.Addr().String()},
			[]string{taken.Addr().String(), "in use", "--addr"}},
		{"everybody could reach it", options{addr: "0.0.0.0:0"}, []string{"PUDU_TOKEN", "--insecure"}},
		{"no address", options{addr: "nonsense"}, []string{"nonsense", "--addr"}},
	}
	for _, c := range refusals {
		text := p.launch(t, c.o).Refused()
		for _, part := range c.says {
			if !strings.Contains(text, part) {
				t.Errorf("%s: it does not say %q: %s", c.name, part, text)
			}
		}
	}

	ask := func(n *node, token string) int {
		url := strings.Replace(n.URL, "0.0.0.0", "127.0.0.1", 1)
		req, err := http.NewRequest(http.MethodPost, url+"/threads/search", strings.NewReader("{}"))
		server.Must(t, err)
		req.Host = "pudu.example.com"
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		server.Must(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	secret := p.start(t, options{addr: "0.0.0.0:0", env: []string{"PUDU_TOKEN=a secret"}})
	for token, want := range map[string]int{"": 401, "wrong": 401, "a secret": 200} {
		if got := ask(secret, token); got != want {
			t.Errorf("with token %q: HTTP %d, want %d", token, got, want)
		}
	}
	secret.Term()
	open := p.start(t, options{addr: "0.0.0.0:0", args: []string{"--insecure"}})
	if got := ask(open, ""); got != 200 {
		t.Errorf("--insecure: HTTP %d", got)
	}
	open.Term()
	local := p.start(t, options{})
	if got := ask(local, ""); got != 403 {
		t.Errorf("by another name than localhost: HTTP %d", got)
	}
}

// TestStopsTwice: a second signal does not wait.
func TestStopsTwice(t *testing.T) {
	t.Parallel()
	p, _ := alone(t)
	n := p.start(t, options{})
	n.Signal(syscall.SIGINT)
	n.Signal(os.Interrupt)
	select {
	case <-n.Ended():
	case <-time.After(server.Patience):
		t.Fatal("it did not end")
	}
}
