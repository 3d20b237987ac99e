//go:build linux

package bwrap

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLaunchThatWasCutOffIsEnded: a process whose session lost its leader, as when bwrap is killed while it sets up.
func TestLaunchThatWasCutOffIsEnded(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 4321 >/dev/null 2>&1 & echo $!")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	leader := fmt.Sprintf("%d %s\n", cmd.Process.Pid, startTime(cmd.Process.Pid))
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	left, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || serverGone(left) {
		t.Fatalf("process %q, error %v", line, err)
	}
	file := filepath.Join(t.TempDir(), launchFile)
	other := fmt.Sprintf("%d 1\n", os.Getpid()) // a number that another process has by now
	for _, text := range []string{"", "x", "1 1", other, leader} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		endLaunch(file)
	}
	for deadline := time.Now().Add(10 * time.Second); !serverGone(left); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the process is still there")
		}
	}
}

// TestWithoutTheRuntimeFolder: what a killed server left in a cgroup ends, although nothing else names it any more.
func TestWithoutTheRuntimeFolder(t *testing.T) {
	gone := exec.CommandContext(t.Context(), "true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	p := New(Config{NoCgroup: true, RuntimeDir: t.TempDir()})
	p.groups.v2 = t.TempDir()
	// group makes a cgroup of a server, with a process in it.
	group := func(server int) *exec.Cmd {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sleep", "4322")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(p.groups.v2, fmt.Sprintf("%s%d-1", prefix, server))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		list := fmt.Sprintf("0\n%d\n%d\n", gone.Process.Pid, cmd.Process.Pid) // 0 is one of another namespace
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	left, living := group(gone.Process.Pid), group(os.Getpid())
	if err := p.Reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !serverGone(left.Process.Pid) {
		t.Error("the process of the server that is gone still runs")
	}
	if serverGone(living.Process.Pid) {
		t.Error("the process of a server that lives has ended")
	}
	_ = living.Process.Kill()
	_ = left.Wait()
	_ = living.Wait()
}

// TestOptionsFollowTheNote: bwrap gets its options, without which it starts nothing, once its number is written down.
func TestOptionsFollowTheNote(t *testing.T) {
	for _, c := range []struct {
		name, dir string
		got       string
		failed    bool
	}{
		{name: "noted", dir: t.TempDir(), got: "--unshare-all\x00"},
		{name: "no room for the note", dir: filepath.Join(t.TempDir(), "none"), failed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			b := &box{dir: c.dir}
			cmd := &exec.Cmd{Process: &os.Process{Pid: 4711}}
			err = b.tell(&launch{cmd: cmd, args: w, options: "--unshare-all\x00"})
			if (err != nil) != c.failed {
				t.Fatal("error", err)
			}
			got, err := io.ReadAll(r)
			if err != nil || string(got) != c.got {
				t.Errorf("bwrap reads %q, error %v; want %q", got, err, c.got)
			}
			note, _ := os.ReadFile(filepath.Join(c.dir, launchFile))
			if noted := strings.HasPrefix(string(note), "4711 "); noted == c.failed {
				t.Errorf("the note says %q", note)
			}
		})
	}
}
