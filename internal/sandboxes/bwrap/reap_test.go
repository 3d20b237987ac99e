//go:build linux

package bwrap

import (
	"bufio"
	"fmt"
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
