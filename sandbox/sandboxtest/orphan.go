package sandboxtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

// ownerEnv makes a test binary the process that owns a sandbox until it is killed.
const ownerEnv = "PUDU_TEST_SANDBOX_OWNER"

// Reaper is a provider that can wait for the end of what a killed owner left.
type Reaper interface {
	// Reap returns when no process of sandboxes whose owner is gone does anything any more. A shell that has not begun
	// its command may be there a moment longer.
	Reap(ctx context.Context) error
}

// Opener opens a sandbox, and may leave it in some state, such as parked in a pool.
type Opener func(ctx context.Context, p sandbox.Provider, spec sandbox.Spec) (sandbox.Sandbox, error)

// RunOrphans kills the process that owns a sandbox, with SIGKILL, while commands run in it and processes in its
// background, and at random moments of its start: nothing may have an effect after that. It starts the test binary
// again, in which the same test must call it with the same provider.
func RunOrphans(t *testing.T, p sandbox.Provider, open Opener) {
	if dir := os.Getenv(ownerEnv); dir != "" {
		own(t, p, dir, open)
	}
	t.Run("ByThemselves", func(t *testing.T) { orphans(t, waitForEnd) })
	t.Run("WhileCommandsRun", func(t *testing.T) { orphans(t, func(t *testing.T, _ string) { reap(t, p) }) })
	t.Run("WhileStarting", func(t *testing.T) { killedEarly(t, p) })
}

// ticks is a script that writes into a file for as long as it lives. The word makes its processes known.
func ticks(name, word string) string {
	return fmt.Sprintf("while :; do echo x >>%s; sleep 0.00%s; done", name, word)
}

func wordOf(dir string) string { return strings.TrimPrefix(filepath.Base(dir), "pudu-test-") }

// own is the owner: it never returns.
func own(t *testing.T, p sandbox.Provider, dir string, open Opener) {
	ctx := context.Background()
	box, err := open(ctx, p, sandbox.Spec{ID: "orphan", Mounts: []sandbox.Mount{{Host: dir, Path: sandbox.Workspace}}})
	if err != nil {
		t.Fatal(err)
	}
	word := wordOf(dir)
	hidden := ticks("hidden", word)
	script := "trap '' TERM HUP INT; (" + ticks("background", word) + ") & setsid env -i bash -c '" + hidden +
		"' >/dev/null 2>&1 & (" + headless("headless") + ") >/dev/null 2>&1 & echo left"
	if _, err := box.Run(ctx, sandbox.Command{Script: script, Stdout: os.Stdout}); err != nil {
		t.Fatal(err)
	}
	_, err = box.Run(ctx, sandbox.Command{Script: ticks("foreground", word), Stdout: os.Stdout})
	t.Fatal("the command ended", err)
}

// startOwner starts the owner on a folder. The word in its name is made of digits, so that it can be part of a number.
func startOwner(t *testing.T) (cmd *exec.Cmd, dir string, out io.ReadCloser) {
	t.Helper()
	dir = Folder(t)
	test, _, _ := strings.Cut(t.Name(), "/")
	cmd = exec.Command(os.Args[0], "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), ownerEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, dir, out
}

// orphans kills the owner of commands that run; end waits for their end.
func orphans(t *testing.T, end func(t *testing.T, word string)) {
	cmd, dir, out := startOwner(t)
	said := bufio.NewReader(out)
	line, err := said.ReadString('\n')
	if err != nil || line != "left\n" {
		t.Fatalf("the owner said %q, %v", line, err)
	}
	until(t, "all write", func() bool {
		written := sizes(dir)
		return min(written[0], written[1], written[2], size(filepath.Join(dir, "headless"))) >= 6
	})
	must(t, cmd.Process.Kill())
	killed := time.Now()
	_, _ = io.Copy(io.Discard, said) // it ends when the owner's files are closed, as its locks are
	end(t, wordOf(dir))
	took := time.Since(killed)
	if n := hostProcesses(wordOf(dir)); n > 0 {
		t.Errorf("%d processes are left", n)
	}
	before := sizes(dir)
	if took > prompt {
		t.Errorf("the processes lived for %v", took)
	}
	time.Sleep(100 * time.Millisecond) // more than ten rounds of each
	if now := sizes(dir); now != before {
		t.Errorf("the files had %v bytes, and then %v", before, now)
	}
	written := int64(-1)
	until(t, "the one without a first thread ends", func() bool { // it is in no list of processes
		before := written
		written = size(filepath.Join(dir, "headless"))
		time.Sleep(50 * time.Millisecond)
		return written == before
	})
	t.Logf("all gone %v after the kill", took)
}

// killedEarly kills the owner at moments around the start of the sandbox and of its first commands.
func killedEarly(t *testing.T, p sandbox.Provider) {
	const kills = 15
	for i := range kills {
		cmd, dir, _ := startOwner(t)
		time.Sleep(time.Duration(i) * 4 * time.Millisecond) // spreads the kills; nothing can be waited for
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		reap(t, p)
		before, reaped := sizes(dir), time.Now()
		waitForEnd(t, wordOf(dir))
		if took := time.Since(reaped); took > prompt {
			t.Errorf("kill %d: a process was left for %v", i, took)
		}
		if now := sizes(dir); now != before {
			t.Errorf("kill %d: the files had %v bytes, and then %v", i, before, now)
		}
	}
}

// sizes are those of the files that the owner's scripts write.
func sizes(dir string) (all [3]int64) {
	for i, name := range []string{"background", "hidden", "foreground"} {
		all[i] = size(filepath.Join(dir, name))
	}
	return all
}

// reap waits until what the owner left is gone: by the provider, if it can.
func reap(t *testing.T, p sandbox.Provider) {
	t.Helper()
	r, ok := p.(Reaper)
	if !ok {
		t.Fatalf("provider %s cannot reap", p.Name())
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(t, r.Reap(ctx))
}

// waitForEnd waits for the end of what the owner left, of which nobody takes care.
func waitForEnd(t *testing.T, word string) {
	t.Helper()
	for range 2 { // a look misses a child of who then ends
		until(t, "all processes are gone", func() bool { return hostProcesses(word) == 0 })
	}
}

func size(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}
