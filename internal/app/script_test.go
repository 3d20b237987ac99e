package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pudu-ai/pudu/internal/app"
	"github.com/pudu-ai/pudu/internal/testkit/addrtest"
	"github.com/pudu-ai/pudu/internal/testkit/killtest"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

func TestMain(m *testing.M) {
	if killtest.Child() { // it brings no programs
		os.Exit(m.Run())
	}
	testscript.Main(m, map[string]func(){"pudu": func() { os.Exit(app.Main("test")) }})
}

// TestScripts runs the program as a user does: each file of testdata/script is one session, with the real sandbox and
// the real store. Only the model is scripted, or a server that answers with the status in its path.
func TestScripts(t *testing.T) {
	programs, err := commandPrograms(t)
	if err != nil {
		t.Fatal(err)
	}
	models := httptest.NewServer(http.HandlerFunc(serveModel))
	t.Cleanup(models.Close)
	var pg pgtest.Lazy
	t.Cleanup(func() {
		if err := pg.Stop(); err != nil {
			t.Error(err)
		}
	})
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfile": waitFile, "waitrun": waitRun, "sql": runSQL, "mail": readMail},
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			// The system's python3: that of a version manager is a script that takes ten times as long to start.
			env.Setenv("PATH", programs+":/usr/bin:"+env.Getenv("PATH"))
			env.Setenv("GORACE", os.Getenv("GORACE")) // of make test
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			env.Setenv("PUDU_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("PUDU_ADDR", "127.0.0.1:0")
			env.Setenv("OLLAMA_HOST", "127.0.0.1:9") // nothing listens there
			addr, err := addrtest.Free()
			if err != nil {
				return err
			}
			env.Setenv("ADDR", addr) // of a server that the script starts
			// In the numbers of what a script looks for among all processes of the machine: others run these scripts, too.
			env.Setenv("PID", strconv.Itoa(os.Getpid()))
			if strings.HasSuffix(env.WorkDir, "postgres") {
				env.Setenv("POSTGRES", pg.Database(t))
			}
			for _, status := range []int{200, 401, 404, 429, 500} {
				env.Setenv(fmt.Sprintf("URL_%d", status), fmt.Sprintf("%s/%d/v1", models.URL, status))
			}
			return os.MkdirAll(home, 0o755)
		},
	})
}

// commandPrograms makes a folder with a program pudu: what works concurrently (run, serve) is the program of these
// tests, with the race detector if they have it; every other command is the program as users have it. The scripts start
// more than a thousand, and one that looks for races takes a tenth of a second to start.
func commandPrograms(t *testing.T) (string, error) {
	dir := t.TempDir()
	tests, err := exec.LookPath("pudu")
	if err != nil {
		return "", err
	}
	plain := filepath.Join(dir, "plain", "pudu")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w -X main.version=test", "-o", plain,
		"github.com/pudu-ai/pudu/cmd/pudu")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build pudu: %w\n%s", err, out)
	}
	// Each comes first in its own PATH, by which it knows what users call it.
	script := fmt.Sprintf("#!/bin/sh\ncase $1 in\nrun|serve) dir='%s' ;;\n*) dir='%s' ;;\nesac\nPATH=$dir:$PATH\nexec pudu \"$@\"\n",
		filepath.Dir(tests), filepath.Dir(plain))
	return dir, os.WriteFile(filepath.Join(dir, "pudu"), []byte(script), 0o755)
}

// serveModel is a chat-completions server: /401/v1/... answers with status 401, /200/v1/... with a short stream.
func serveModel(w http.ResponseWriter, r *http.Request) {
	status, err := strconv.Atoi(strings.Split(r.URL.Path, "/")[1])
	if err != nil {
		status = http.StatusNotFound
	}
	if status != http.StatusOK {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":"answer with status %d","type":"test"}}`, status)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range []string{
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":"good "}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"answer"},"finish_reason":"stop"}]}`,
		`[DONE]`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// waitFile waits until something stands in a file, or until there is a socket.
func waitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfile FILE")
	}
	path := ts.MkAbs(args[0])
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) {
			return
		}
	}
	ts.Fatalf("nothing appeared in %s", path)
}

// waitRun waits until pudu runs prints what matches a pattern, or with ! until it does not.
func waitRun(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] waitrun REGEXP")
	}
	want := regexp.MustCompile(args[0])
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ts.Check(ts.Exec("pudu", "runs"))
		if want.MatchString(ts.ReadFile("stdout")) != neg {
			return
		}
	}
	ts.Fatalf("pudu runs keeps printing:\n%s", ts.ReadFile("stdout"))
}
