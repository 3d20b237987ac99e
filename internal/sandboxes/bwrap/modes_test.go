//go:build linux

package bwrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/sandbox/sandboxtest"
)

// fastEnv names a folder in memory that nobody else writes to.
const fastEnv = "PUDU_BWRAP_FAST"

// plainUID is a user without any rights, as which tests run a second time.
const plainUID = 64321

// TestAsPlainUser runs all tests once more as a user that is not root and has no cgroups. What that user cannot run is
// run by root.
func TestAsPlainUser(t *testing.T) {
	machinetest.NeedRoot(t, "become another user")
	tmp, err := os.MkdirTemp("", "pudu-plain-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	if err := unix.Mount("pudu-plain", tmp, "tmpfs", 0, ""); err != nil { // see [fastFolder]: that user may not mount
		t.Fatal(err)
	}
	defer unix.Unmount(tmp, unix.MNT_DETACH)
	if err := os.Chown(tmp, plainUID, plainUID); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.count=1", "-test.timeout=10m")
	cmd.Dir = tmp
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + tmp, "HOME=" + tmp, fastEnv + "=" + tmp}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: plainUID, Gid: plainUID}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// helperEnv names the part that a re-executed test process plays.
const helperEnv = "PUDU_BWRAP_HELPER"

// TestHelperProcess is no test: it is what re-executed processes run.
func TestHelperProcess(t *testing.T) {
	switch os.Getenv(helperEnv) {
	case "probe":
		fmt.Printf("probe: %v\n", New(Config{}).Probe(t.Context()))
	case "serve":
		box := openBox(t, New(Config{}), sandbox.Limits{},
			sandbox.Mount{Host: os.Getenv("PUDU_FOLDER"), Path: sandbox.Workspace})
		run(t, box, os.Getenv("PUDU_SCRIPT"))
		fmt.Println("serving", box.dir)
		time.Sleep(time.Minute)
	}
}

func helper(part string, env ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestHelperProcess$")
	cmd.Env = append(os.Environ(), append(env, helperEnv+"="+part)...)
	return cmd
}

func openBox(t *testing.T, p *Provider, l sandbox.Limits, mounts ...sandbox.Mount) *box {
	t.Helper()
	if len(mounts) == 0 {
		mounts = []sandbox.Mount{{Host: sandboxtest.Folder(t), Path: sandbox.Workspace}}
	}
	b, err := p.Open(context.Background(), sandbox.Spec{ID: "test", Mounts: mounts, Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b.(*box)
}

func run(t *testing.T, b sandbox.Sandbox, script string) string {
	t.Helper()
	var out bytes.Buffer
	res, err := b.Run(context.Background(), sandbox.Command{Script: script, Stdout: &out, Stderr: &out,
		Timeout: 20 * time.Second})
	if err != nil || res.Exit != 0 {
		t.Fatalf("%s: %+v, %v\n%s", script, res, err, out.String())
	}
	return out.String()
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// living counts processes of the machine with the word in their command lines.
func living(word string) int {
	n := 0
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && bytes.Contains(data, []byte(word)) {
			n++
		}
	}
	return n
}

// family of the host: bwrap and all its descendants.
func hostFamily(pid int) []int {
	out := []int{pid}
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for f := range strings.FieldsSeq(string(data)) {
		child, _ := strconv.Atoi(f)
		out = append(out, hostFamily(child)...)
	}
	return out
}

func TestNeverRootOnTheHost(t *testing.T) {
	b := openBox(t, New(Config{}), sandbox.Limits{})
	run(t, b, "sleep 100 >/dev/null 2>&1 &")
	pids := hostFamily(b.cmd.Process.Pid)
	if len(pids) < 4 {
		t.Fatalf("found only %v", pids)
	}
	for _, pid := range pids {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		for line := range strings.Lines(string(status)) {
			f := strings.Fields(line)
			if f[0] != "Uid:" && f[0] != "Gid:" {
				continue
			}
			for _, id := range f[1:] {
				if id == "0" {
					t.Errorf("process %d: %s", pid, line)
				}
			}
		}
	}
}

func TestCommandLineAndEnvironmentSayNothing(t *testing.T) {
	t.Setenv("PUDU_SECRET", "hush")
	b := openBox(t, New(Config{}), sandbox.Limits{})
	for _, pid := range hostFamily(b.cmd.Process.Pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if len(line) == 0 || bytes.Contains(line, []byte(b.dir)) || bytes.Contains(line, []byte("--bind")) ||
			bytes.Contains(env, []byte("hush")) {
			t.Errorf("process %d: %q, %q", pid, line, env)
		}
	}
}

func TestServerKilledLeavesNothing(t *testing.T) {
	word := fmt.Sprintf("75319.%d", os.Getpid())
	cmd := helper("serve", "PUDU_FOLDER="+sandboxtest.Folder(t), "PUDU_SCRIPT="+
		strings.ReplaceAll("sleep WORD & setsid sleep WORD & (env -i setsid sleep WORD &) &", "WORD", word))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var dir string
	if _, err := fmt.Fscanf(out, "serving %s\n", &dir); err != nil {
		t.Fatal(err)
	}
	until(t, "all processes are there", func() bool { return living("sleep\x00"+word) >= 3 })
	cmd.Process.Signal(syscall.SIGKILL)
	began := time.Now()
	until(t, "all processes are gone", func() bool { return living("sleep\x00"+word) == 0 })
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("that took %v", took)
	}
	cmd.Wait()

	// What the dead server could not remove, the next one does.
	leaf := filepath.Base(dir)
	p := New(Config{})
	openBox(t, p, sandbox.Limits{})
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("runtime folder: %v", err)
	}
	for _, parent := range findGroups(realHost()).parents() {
		until(t, "the cgroup is gone", func() bool { // it is kept by processes that are just ending
			if err := p.Reap(t.Context()); err != nil {
				t.Error(err)
			}
			_, err := os.Stat(filepath.Join(parent, leaf))
			return errors.Is(err, os.ErrNotExist)
		})
	}
}

func TestEndOfTheControlPipeEndsTheSandbox(t *testing.T) {
	b := openBox(t, New(Config{}), sandbox.Limits{})
	run(t, b, "sleep 100 >/dev/null 2>&1 &")
	b.ctrl.Close()
	select {
	case <-b.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("it goes on")
	}
}

func TestDeadSandboxSaysSo(t *testing.T) {
	b := openBox(t, New(Config{}), sandbox.Limits{})
	_, err := b.Run(t.Context(), sandbox.Command{Script: "kill -9 2; sleep 20", Timeout: 20 * time.Second})
	if !errors.Is(err, sandbox.ErrClosed) {
		t.Fatalf("got %v", err)
	}
	<-b.Done()
	if _, err := b.Run(t.Context(), sandbox.Command{Script: "true"}); !errors.Is(err, sandbox.ErrClosed) {
		t.Fatalf("got %v", err)
	}
}

func TestStoppedInitIsGivenUp(t *testing.T) {
	b := openBox(t, New(Config{}), sandbox.Limits{})
	run(t, b, "kill -STOP 2; exit 0")
	res, err := b.Run(t.Context(), sandbox.Command{Script: "true", Timeout: 1500 * time.Millisecond})
	if err == nil && !res.TimedOut {
		t.Fatalf("got %+v", res)
	}
	select {
	case <-b.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("it goes on")
	}
}

func TestKilledWaiterDoesNotHoldTheCall(t *testing.T) {
	b := openBox(t, New(Config{}), sandbox.Limits{})
	res, err := b.Run(t.Context(), sandbox.Command{Script: "sleep 0.4; kill -9 $PPID", Timeout: 20 * time.Second})
	if err != nil || res.Exit != exitKilled || res.TimedOut {
		t.Fatalf("got %+v, %v", res, err)
	}
	run(t, b, "true")
}

// TestProcessLimitIsPerSandbox: the kernel once counted the processes of a user over all sandboxes.
func TestProcessLimitIsPerSandbox(t *testing.T) {
	p := New(Config{})
	limits := sandbox.Limits{Processes: 64}
	a, b := openBox(t, p, limits), openBox(t, p, limits)
	const fork = "for i in $(seq 45); do sleep 100 >/dev/null 2>&1 & done; echo fine"
	for _, box := range []*box{a, b} {
		if out := run(t, box, fork); out != "fine\n" {
			t.Fatalf("got %q", out)
		}
	}
}

// TestClosedFolders keeps the data below a folder that only the server may enter, such as /root.
func TestClosedFolders(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	host, ro := filepath.Join(closed, "ws"), filepath.Join(closed, "ro")
	for _, dir := range []string{closed, host, ro} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	b := openBox(t, New(Config{}), sandbox.Limits{}, sandbox.Mount{Host: host, Path: sandbox.Workspace},
		sandbox.Mount{Host: ro, Path: "/mnt/skills", ReadOnly: true})
	run(t, b, "echo x >f; ! touch /mnt/skills/y 2>/dev/null")
	run(t, b, "cat f; sleep 0.3; cat f")
	if got, err := os.ReadFile(filepath.Join(host, "f")); err != nil || string(got) != "x\n" {
		t.Fatalf("got %q, %v", got, err)
	}
	dir := b.dir
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("runtime folder: %v", err)
	}
	if _, err := os.Stat(filepath.Join(host, "f")); err != nil {
		t.Errorf("the file went with the sandbox: %v", err)
	}
}

func TestProgramsAreThere(t *testing.T) {
	p := New(Config{})
	progs := p.Programs(t.Context())
	if len(progs) == 0 {
		t.Fatal("none")
	}
	b := openBox(t, p, sandbox.Limits{})
	run(t, b, "command -v "+strings.Join(progs, " ")+` >/dev/null || exit 1; for p in `+strings.Join(progs, " ")+
		`; do command -v $p >/dev/null || { echo $p; exit 1; }; done`)
}

func TestLimitsBelongToTheCgroup(t *testing.T) {
	p := New(Config{})
	b := openBox(t, p, sandbox.Limits{CPUs: 0.5, Memory: 256 << 20, Processes: 50})
	if len(p.groups.parents()) == 0 {
		machinetest.Cannot(t,
			"no cgroup can be made; rlimits and the watchdog hold the limits, which the escape suite shows")
	}
	for _, pid := range hostFamily(b.cmd.Process.Pid) {
		in, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		if n := bytes.Count(in, []byte("/"+filepath.Base(b.dir)+"\n")); n == 0 || n < len(b.group.v1) {
			t.Errorf("process %d is in\n%s", pid, in)
		}
	}
	if dir := b.group.v1["cpu"]; dir != "" {
		if got, _ := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us")); string(got) != "50000\n" {
			t.Errorf("cpu: %q", got)
		}
	}
	self, _ := os.ReadFile("/proc/self/cgroup")
	tasks, _ := filepath.Glob("/proc/self/task/*/cgroup")
	for _, task := range tasks {
		if in, err := os.ReadFile(task); err == nil && !bytes.Equal(in, self) {
			t.Errorf("a thread of the server stayed in a sandbox's cgroup: %s", in)
		}
	}
	dirs := b.group.dirs()
	b.Close()
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
}

// TestProcessorsWithoutCgroup: where nothing counts processor time, a sandbox gets fewer processors.
func TestProcessorsWithoutCgroup(t *testing.T) {
	b := openBox(t, New(Config{NoCgroup: true}), sandbox.Limits{CPUs: 0.5})
	if got := run(t, b, "nproc"); got != "1\n" {
		t.Errorf("got %q processors", got)
	}
	if got := run(t, openBox(t, New(Config{NoCgroup: true}), sandbox.Limits{}),
		"nproc"); got != fmt.Sprintln(runtime.NumCPU()) {
		t.Errorf("without a limit: %q processors", got)
	}
}

// TestInheritedDescriptorsStay: what the server itself inherited must not be found inside.
func TestInheritedDescriptorsStay(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(secret, syscall.O_RDONLY, 0) // without O_CLOEXEC, as a shell would leave it
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 100) // above those that bwrap is given
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(high)
	b := openBox(t, New(Config{}), sandbox.Limits{})
	out := run(t, b, `for p in /proc/[0-9]*; do for f in $p/fd/*; do readlink $f; done; done | sort | uniq -c`)
	if strings.Contains(out, "secret") || strings.Contains(out, "deleted") || strings.Contains(out, "memfd") {
		t.Errorf("open inside:\n%s", out)
	}
}

// TestHostile31Environment is item 31 of the list of hostile inputs: no variable of the server is in a sandbox, be it a
// secret by its name or one that loaders and shells obey, in no process that can be seen there, and not in a command
// that is left running either.
func TestHostile31Environment(t *testing.T) {
	for _, name := range []string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PGPASSFILE", "PGPASSWORD", "MYSQL_PWD", "REDISCLI_AUTH", "DB_PASS",
		"DATABASE_URL", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "MAVEN_OPTS", "JAVA_TOOL_OPTIONS",
		"GLIBC_TUNABLES", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PYTHONSTARTUP", "PYTHONPATH", "NODE_OPTIONS",
		"PERL5OPT", "GIT_SSH_COMMAND", "PROMPT_COMMAND", "PUDU_TOKEN", "harmless",
	} {
		t.Setenv(name, "hush-31")
	}
	b := openBox(t, New(Config{}), sandbox.Limits{})
	run(t, b, "sleep 30 >/dev/null 2>&1 &")
	out := run(t,
		b, `env; python3 -c 'import os; print(os.environ)' 2>/dev/null; for p in /proc/[0-9]*/environ; do tr '\0' '\n' <$p; done 2>/dev/null; echo done`)
	if strings.Contains(out, "hush-31") || !strings.HasSuffix(out, "done\n") {
		t.Errorf("the sandbox has\n%s", out)
	}
}
