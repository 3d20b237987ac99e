package sandboxtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

// Run holds a provider to the contract of package sandbox.
func Run(t *testing.T, p sandbox.Provider) {
	t.Run("Probe", func(t *testing.T) { must(t, p.Probe(context.Background())) })
	t.Run("RefusesBadSpec", func(t *testing.T) { refusesBadSpec(t, p) })
	for _, c := range []struct {
		name string
		test func(*bench)
	}{
		{"Output", outputs}, {"ExitCodes", exitCodes}, {"Dir", dirs}, {"Env", envs}, {"Secrets", secrets},
		{"Stdin", stdin}, {"Signals", signals}, {"RefusesBadCommand", refusesBadCommand}, {"LongScript", longScript},
		{"BinaryOutput", binaryOutput}, {"Mounts", mounts}, {"FilesOutliveTheSandbox", filesOutlive},
		{"LockedFolders", lockedFolders},
		{"Timeout", timeouts}, {"Cancel", cancels}, {"KillsTheWholeFamily", killsFamily},
		{"KillsWhatLostItsFirstThread", killsHeadless},
		{"Background", background}, {"BackgroundThatHoldsNoOutput", silentBackground}, {"Parallel", parallel},
		{"LargeOutput", largeOutput}, {"EndlessOutput", endlessOutput}, {"FailingWriter", failingWriter},
		{"CloseEndsCommands", closeEndsCommands}, {"CloseKillsBackground", closeKillsBackground}, {"Closed", closed},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(open(t, p, sandbox.Limits{})) })
	}
}

func refusesBadSpec(t *testing.T, p sandbox.Provider) {
	dir := t.TempDir()
	for name, spec := range map[string]sandbox.Spec{
		"id":      {ID: "../x"},
		"path":    {ID: "x", Mounts: []sandbox.Mount{{Host: dir, Path: "/etc"}}},
		"missing": {ID: "x", Mounts: []sandbox.Mount{{Host: filepath.Join(dir, "none"), Path: sandbox.Workspace}}},
	} {
		if box, err := p.Open(context.Background(), spec); err == nil {
			box.Close()
			t.Errorf("%s: opened", name)
		}
	}
}

func outputs(b *bench) {
	var out, errs output
	res, err := b.box.Run(context.Background(), sandbox.Command{Script: "echo out; echo err >&2", Stdout: &out,
		Stderr: &errs})
	if err != nil || res.Exit != 0 || out.String() != "out\n" || errs.String() != "err\n" {
		b.t.Fatalf("got %q, %q, %+v, %v", out.String(), errs.String(), res, err)
	}
	b.want("for i in 1 2 3; do echo o$i; echo e$i >&2; done", "o1\ne1\no2\ne2\no3\ne3\n")
	if res, err := b.box.Run(context.Background(), sandbox.Command{Script: "echo nobody listens"}); err != nil ||
		res.Exit != 0 {
		b.t.Fatalf("without writers: %+v, %v", res, err)
	}
	b.want("echo 'it'\"'\"'s' \"$((1+1))\"\ncat <<E\n$(echo here)\nE\n", "it's 2\nhere\n")
}

func exitCodes(b *bench) {
	for script, want := range map[string]int{
		"true": 0, "exit 3": 3, "no-such-program": 127, "kill -9 $$": 137, "exec false": 1, "syntax (": 2, "": 0,
	} {
		if out, res := b.run(script); res.Exit != want || res.TimedOut || res.Limit != "" {
			b.t.Errorf("%q: got %+v, %q, want exit %d", script, res, out, want)
		}
	}
}

func dirs(b *bench) {
	b.want("pwd", sandbox.Workspace+"\n")
	if out, res := b.do(sandbox.Command{Script: "pwd", Dir: sandbox.Outputs}); out != sandbox.Outputs+"\n" ||
		res.Exit != 0 {
		b.t.Errorf("got %q, %+v", out, res)
	}
	out, res := b.do(sandbox.Command{Script: "echo ran", Dir: sandbox.Workspace + "/it's not there"})
	if res.Exit == 0 || !strings.Contains(out, "it's not there") || strings.Contains(out, "ran") {
		b.t.Errorf("missing folder: got %q, %+v", out, res)
	}
	b.run("cd /; X=1")
	b.want("pwd; echo $X", sandbox.Workspace+"\n\n") // nothing is left of the command before
}

func envs(b *bench) {
	b.t.Setenv("PUDU_TEST_SECRET", "hush")
	out, _ := b.do(sandbox.Command{Script: `echo "$A|$B|$PUDU_TEST_SECRET"; env`,
		Env: []string{"A=x y", "B=it's $HOME\n2"}})
	if !strings.HasPrefix(out, "x y|it's $HOME\n2|\n") || strings.Contains(out, "hush") {
		b.t.Errorf("got %q", out)
	}
}

// secrets are variables of the one command, which find what Env says of their name.
func secrets(b *bench) {
	out, _ := b.do(sandbox.Command{Script: `printf '%s|' "$A" "$S" "$T"; bash -c 'echo "$S"'`,
		Env: []string{"A=of env"}, Secrets: []string{"A=of secrets", "S=it's $HOME\nhush", "T="}})
	if want := "of env|it's $HOME\nhush||it's $HOME\nhush\n"; out != want {
		b.t.Errorf("got %q, want %q", out, want)
	}
	b.want(`echo "$S$T"; env | grep hush; true`, "\n") // nothing is left of them
	if _, err := b.box.Run(context.Background(), sandbox.Command{Secrets: []string{"A B=hush"}}); err == nil ||
		strings.Contains(err.Error(), "hush") {
		b.t.Errorf("a bad name: %v", err)
	}
}

func stdin(b *bench) { b.want("cat; read x; echo done", "done\n") }

// signals: a command can interrupt itself, stop and go on, and its group is its own.
func signals(b *bench) {
	for script, want := range map[string]int{
		"kill -INT $$; echo alive": 130, "kill -TERM 0; echo alive": 143,
		"(sleep 0.2; kill -CONT $$) & kill -STOP $$; exit 7": 7,
	} {
		if out, res := b.run(script); res.Exit != want || out != "" {
			b.t.Errorf("%q: got %+v, %q, want exit %d", script, res, out, want)
		}
	}
	b.healthy()
}

func refusesBadCommand(b *bench) {
	for name, cmd := range map[string]sandbox.Command{
		"nul": {Script: "a\x00b"}, "dir": {Dir: "relative"}, "env": {Env: []string{"BASH_FUNC_ls%%=() { :; }"}},
	} {
		if _, err := b.box.Run(context.Background(), cmd); err == nil {
			b.t.Errorf("%s: accepted", name)
		}
	}
}

func longScript(b *bench) {
	b.want("x='"+strings.Repeat("y", 1<<20)+"'; echo ${#x}", "1048576\n")
}

func binaryOutput(b *bench) {
	b.want(`printf '\377\0\303\050 \033]52;c;AAAA\007\n'`, "\xff\x00\xc3\x28 \x1b]52;c;AAAA\x07\n")
}

func mounts(b *bench) {
	must(b.t, os.WriteFile(filepath.Join(b.folders[sandbox.Uploads], "in.txt"), []byte("from the host\n"), 0o644))
	b.want("cat /mnt/user-data/uploads/in.txt; cat /mnt/skills/skill.md", "from the host\na skill\n")
	b.want("echo x >/mnt/user-data/outputs/a && mkdir sub && echo y >sub/b && cat ../outputs/a", "x\n")
	for path, want := range map[string]string{sandbox.Outputs + "/a": "x\n", sandbox.Workspace + "/sub/b": "y\n"} {
		dir, name, _ := strings.Cut(strings.TrimPrefix(path, sandbox.UserData+"/"), "/")
		got, err := os.ReadFile(filepath.Join(b.folders[sandbox.UserData+"/"+dir], name))
		if err != nil || string(got) != want {
			b.t.Errorf("%s on the host: %q, %v", path, got, err)
		}
	}
}

func filesOutlive(b *bench) {
	b.run("echo kept >file")
	must(b.t, b.box.Close())
	if got, err := os.ReadFile(filepath.Join(b.folders[sandbox.Workspace], "file")); err != nil ||
		string(got) != "kept\n" {
		b.t.Errorf("got %q, %v", got, err)
	}
}

// lockedFolders takes the rights to the thread's own folders away: the next command has them again.
func lockedFolders(b *bench) {
	for _, dir := range []string{sandbox.Workspace, sandbox.Uploads, sandbox.Outputs} {
		b.want("chmod 000 "+dir, "")
		b.want("cd "+dir+" && echo x >f && ls && stat -c %a .", "f\n700\n")
	}
}

func timeouts(b *bench) {
	const timeout = 2 * time.Second // by when a busy machine has begun
	began := time.Now()
	out, res := b.do(sandbox.Command{Script: "echo begun; sleep 60; echo never", Timeout: timeout})
	if !res.TimedOut || res.Exit != 137 || out != "begun\n" {
		b.t.Errorf("got %q, %+v", out, res)
	}
	if took := time.Since(began); took > timeout+prompt || res.Duration < timeout || res.Duration > took {
		b.t.Errorf("took %v, says %v", took, res.Duration)
	}
	b.healthy()
}

func cancels(b *bench) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out output
	var cancelled time.Time
	began := writerFunc(func(p []byte) (int, error) {
		cancelled = time.Now()
		cancel()
		return out.Write(p)
	})
	_, err := b.box.Run(ctx, sandbox.Command{Script: "trap '' TERM INT HUP; echo begun; while :; do sleep 1; done",
		Stdout: began})
	if !errors.Is(err, context.Canceled) || out.String() != "begun\n" {
		b.t.Errorf("got %q, %v", out.String(), err)
	}
	if took := time.Since(cancelled); took > prompt {
		b.t.Errorf("killing took %v", took)
	}
	if _, err := b.box.Run(ctx, sandbox.Command{Script: "true"}); !errors.Is(err, context.Canceled) {
		b.t.Errorf("cancelled before: %v", err)
	}
	b.healthy()
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// killsFamily starts all sorts of children that try to stay: in sessions of their own, orphans, with a clean
// environment, deaf to signals, stopped.
func killsFamily(b *bench) {
	word := fmt.Sprintf("97531.%d", os.Getpid())
	script := strings.ReplaceAll(`
		sleep WORD & setsid sleep WORD & (setsid sleep WORD &) & (env -i setsid bash -c 'sleep WORD & sleep WORD' &)
		nohup sleep WORD >/dev/null 2>&1 & (trap '' TERM; sleep WORD) & sleep WORD & kill -STOP $!
		exec 5>&1; echo begun; sleep WORD`, "WORD", word)
	_, res := b.do(sandbox.Command{Script: script, Timeout: 700 * time.Millisecond})
	if !res.TimedOut {
		b.t.Fatalf("got %+v", res)
	}
	if n := hostProcesses(word); n > 0 {
		b.t.Errorf("%d processes are left", n)
	}
	b.healthy()
}

// headless is a script whose process writes into a file for as long as it lives, in a session of its own. It goes on
// without its first thread, so that it looks like one that has ended, and its name says so, too.
func headless(name string) string {
	return `setsid --wait python3 -c '
import ctypes, os, threading, time
libc = ctypes.CDLL(None)
libc.prctl(15, b") Z\n")
def tick():
    while True:
        with open("` + name + `", "a") as f: f.write("x")
        time.sleep(0.01)
threading.Thread(target=tick).start()
libc.syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)'`
}

// killsHeadless: a process that goes on without its first thread is killed like all others.
func killsHeadless(b *bench) {
	_, res := b.do(sandbox.Command{Script: headless("ticks"), Timeout: 2 * time.Second})
	if !res.TimedOut {
		b.t.Fatalf("got %+v", res)
	}
	b.want("before=$(wc -c <ticks); sleep 0.3; echo $(($(wc -c <ticks) - before)), $((before > 0))", "0, 1\n")
}

func background(b *bench) {
	var out output
	began := time.Now()
	res, err := b.box.Run(context.Background(), sandbox.Command{
		Script: "(while [ ! -e stop ]; do sleep 0.02; done; echo late; sleep 600) & echo first", Stdout: &out,
	})
	if err != nil || res.Exit != 0 || res.Background < 1 || out.String() != "first\n" {
		b.t.Fatalf("got %q, %+v, %v", out.String(), res, err)
	}
	if took := time.Since(began); took > prompt {
		b.t.Errorf("a background process held the call for %v", took)
	}
	b.want("touch stop", "")
	until(b.t, "the background process's output arrives", func() bool { return out.String() == "first\nlate\n" })
}

func silentBackground(b *bench) {
	out, res := b.run("setsid sleep 600 >/dev/null 2>&1 & echo first")
	if out != "first\n" || res.Exit != 0 || res.Background != 1 {
		b.t.Errorf("got %q, %+v", out, res)
	}
}

func parallel(b *bench) {
	var wg sync.WaitGroup
	const n = 8
	for i := range n {
		wg.Go(func() {
			// Each waits for all others, so that it ends only if they really run at once.
			script := fmt.Sprintf("touch p%d; until [ $(ls p* | wc -l) = %d ]; do sleep 0.02; done; echo %d; exit %d",
				i, n, i, i)
			var out output
			res, err := b.box.Run(context.Background(),
				sandbox.Command{Script: script, Stdout: &out, Timeout: patience})
			if err != nil || res.Exit != i || out.String() != fmt.Sprintln(i) {
				b.t.Errorf("command %d: %q, %+v, %v", i, out.String(), res, err)
			}
		})
	}
	wg.Wait()
}

// counter checks a stream without keeping it.
type counter struct {
	n    int64
	hash hash.Hash
	peak uint64
}

func (c *counter) Write(p []byte) (int, error) {
	if c.n>>22 != (c.n+int64(len(p)))>>22 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.peak = max(c.peak, m.HeapAlloc)
	}
	c.n += int64(len(p))
	c.hash.Write(p)
	return len(p), nil
}

func largeOutput(b *bench) {
	const lines = 6_600_000 // a bit above 50 MB
	want := sha256.New()
	var block []byte // many lines at once: the race detector looks at each call
	for i := 1; i <= lines; i++ {
		if block = append(strconv.AppendInt(block, int64(i), 10), '\n'); len(block) > 60<<10 || i == lines {
			want.Write(block)
			block = block[:0]
		}
	}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	got := &counter{hash: sha256.New()}
	res, err := b.box.Run(context.Background(), sandbox.Command{Script: fmt.Sprintf("seq 1 %d", lines), Stdout: got,
		Timeout: 3 * patience})
	if err != nil || res.Exit != 0 || got.n < 50_000_000 || string(got.hash.Sum(nil)) != string(want.Sum(nil)) {
		b.t.Fatalf("got %d bytes or other ones, %+v, %v", got.n, res, err)
	}
	if got.peak > before.HeapAlloc+16<<20 {
		b.t.Errorf("the heap grew from %d to %d bytes", before.HeapAlloc, got.peak)
	}
}

func endlessOutput(b *bench) {
	res, err := b.box.Run(context.Background(), sandbox.Command{Script: "yes", Stdout: io.Discard,
		Timeout: 500 * time.Millisecond})
	if err != nil || !res.TimedOut || res.Duration > 2*time.Second {
		b.t.Errorf("got %+v, %v", res, err)
	}
	b.healthy()
}

func failingWriter(b *bench) {
	calls := 0
	fail := writerFunc(func([]byte) (int, error) { calls++; return 0, io.ErrShortWrite })
	res, err := b.box.Run(context.Background(), sandbox.Command{Script: "seq 1 200000; exit 4", Stdout: fail,
		Timeout: patience})
	if err != nil || res.Exit != 4 || calls != 1 {
		b.t.Errorf("got %+v, %v after %d calls", res, err, calls)
	}
}

func closeEndsCommands(b *bench) {
	began := writerFunc(func(p []byte) (int, error) {
		go b.box.Close()
		return len(p), nil
	})
	_, err := b.box.Run(context.Background(), sandbox.Command{Script: "echo begun; sleep 60", Stdout: began,
		Timeout: patience})
	if !errors.Is(err, sandbox.ErrClosed) {
		b.t.Errorf("got %v", err)
	}
}

func closeKillsBackground(b *bench) {
	word := fmt.Sprintf("86420.%d", os.Getpid())
	b.run(strings.ReplaceAll(`sleep WORD & setsid setsid sleep WORD &
		(env -i setsid bash -c 'trap "" TERM; sleep WORD & sleep WORD' &)
		sleep WORD & kill -STOP $!`, "WORD", word))
	until(b.t, "the processes are there", func() bool { return hostProcesses(word) >= 4 })
	must(b.t, b.box.Close())
	if n := hostProcesses(word); n > 0 {
		b.t.Errorf("%d processes are left", n)
	}
}

func closed(b *bench) {
	must(b.t, b.box.Close())
	must(b.t, b.box.Close())
	if _, err := b.box.Run(context.Background(), sandbox.Command{Script: "true"}); !errors.Is(err, sandbox.ErrClosed) {
		b.t.Errorf("got %v", err)
	}
}
