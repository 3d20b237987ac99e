//go:build linux

package shell_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/sandboxes/bwrap"
	"github.com/pudu-ai/pudu/internal/tools/shell"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/sandbox/sandboxtest"
	"github.com/pudu-ai/pudu/tool"
)

// ownerEnv makes this test binary a process that runs a command until it is killed.
const ownerEnv = "PUDU_TEST_OWNER"

const crashed = "echo started; for i in 1 2 3; do echo file $i >f$i; echo made f$i; done; printf 'step 4'; touch here; sleep 60; touch never"

func crashCall() *tool.Call {
	args, _ := json.Marshal(map[string]string{"description": "test", "command": crashed})
	return &tool.Call{ID: "c", RunID: "r", Args: args, Progress: func(string) {}}
}

func owner(t *testing.T, host string) {
	mounts := []sandbox.Mount{{Host: host, Path: sandbox.Workspace}}
	provider := bwrap.New(bwrap.Config{})
	box, err := provider.Open(context.Background(), sandbox.Spec{ID: "t", Mounts: mounts})
	if err != nil {
		t.Fatal(err)
	}
	uid, gid := provider.Owner("t")
	files, err := sandbox.NewFiles(mounts, sandbox.FilesOptions{UID: uid, GID: gid})
	if err != nil {
		t.Fatal(err)
	}
	_, err = shell.New(shell.Config{Space: &place{files: files, box: box}}).Run(context.Background(), crashCall())
	t.Fatal("the command ended", err)
}

// TestKilledCommand kills the process that runs a command: what the command had written and printed is there.
func TestKilledCommand(t *testing.T) {
	if host := os.Getenv(ownerEnv); host != "" {
		owner(t, host)
	}
	host := sandboxtest.Folder(t)
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledCommand$")
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), ownerEnv+"="+host), &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	printed := func() bool {
		names, _ := filepath.Glob(filepath.Join(host, ".tool-results", "*.log"))
		if len(names) != 1 {
			return false
		}
		raw, _ := os.ReadFile(names[0])
		return bytes.HasSuffix(raw, []byte("step 4"))
	}
	for end := time.Now().Add(20 * time.Second); !printed(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("nothing in the log\n%s", &out)
			break
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()

	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: host, Path: sandbox.Workspace}}, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	got := shell.New(shell.Config{Space: &place{files: files}}).(tool.Inspector).Inspect(t.Context(), crashCall())
	if !strings.Contains(got, ".log:\nstarted\nmade f1\nmade f2\nmade f3\nstep 4\n") {
		t.Errorf("inspected: %s", got)
	}
	if raw, err := files.ReadFile("f3", 100); err != nil || string(raw) != "file 3\n" {
		t.Errorf("f3 is %q, %v", raw, err)
	}
}
