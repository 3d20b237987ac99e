package clients

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
)

// suiteTime bounds one suite; each test in it has a shorter bound of its own.
const suiteTime = 5 * time.Minute

// sdks are the names under which js/package.json installs the versions of the JavaScript SDK.
func sdks() []string { return []string{"sdk-1.12", "sdk-1.6"} }

func TestMain(m *testing.M) {
	flag.Parse()
	server.SideBySide()
	os.Exit(m.Run())
}

func TestClients(t *testing.T) {
	url := startServer(t)
	for _, sdk := range sdks() {
		for _, file := range suites(t, "js/*.test.mjs") {
			t.Run(sdk+"/"+strings.TrimSuffix(filepath.Base(file), ".test.mjs"), func(t *testing.T) {
				t.Parallel()
				run(t, "js", []string{"PUDU_URL=" + url, "PUDU_SDK=" + sdk}, "node",
					append(nodeTest(t), filepath.Base(file))...)
			})
		}
	}
	python, err := filepath.Abs("../../.cache/clients/python/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range suites(t, "python/test_*.py") {
		name := strings.TrimSuffix(filepath.Base(file), ".py")
		t.Run("python/"+strings.TrimPrefix(name, "test_"), func(t *testing.T) {
			t.Parallel()
			run(t, "python", []string{"PUDU_URL=" + url, "PYTHONDONTWRITEBYTECODE=1"}, python, "-m", "unittest", name)
		})
	}
}

// nodeTest are the arguments of node for running tests. Where it can it ends when they have: what the SDK leaves behind
// of a connection that was cut would keep it.
func nodeTest(t *testing.T) []string {
	t.Helper()
	args := []string{"--test", "--test-reporter=tap"}
	help, err := exec.CommandContext(t.Context(), "node", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(help), "--test-force-exit") {
		args = append(args, "--test-force-exit")
	}
	return args
}

// startServer starts the server that all suites share.
func startServer(t *testing.T) string {
	t.Helper()
	for _, installed := range []string{"js/node_modules/sdk-1.12", "../../.cache/clients/python/bin/python"} {
		if _, err := os.Stat(installed); err != nil {
			t.Fatalf("the clients are not installed: %v; run scripts/clients", err)
		}
	}
	return server.Start(t, server.Options{Config: "testdata/config.yaml", Model: "clients"}).URL
}

func suites(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < 5 {
		t.Fatalf("%s: found only %v, %v", pattern, files, err)
	}
	return files
}

func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), suiteTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), 5*time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}
