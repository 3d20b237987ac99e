//go:build unix

package present

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

func TestPresent(t *testing.T) {
	const out = sandbox.Outputs
	host := t.TempDir()
	var mounts []sandbox.Mount
	for _, n := range []string{"workspace", "outputs"} {
		_ = os.Mkdir(filepath.Join(host, n), 0o755)
		mounts = append(mounts, sandbox.Mount{Host: filepath.Join(host, n), Path: sandbox.UserData + "/" + n})
	}
	files, err := sandbox.NewFiles(mounts, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for _, p := range []string{"/mnt/user-data/outputs/a.md", "/mnt/user-data/outputs/d/b.md",
		out + "/.tool-results/x-1.txt", out + "/.gitignore", "/mnt/user-data/workspace/c"} {
		if err := files.WriteFile(p, nil, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(host+"/outputs/fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", host+"/outputs/link"); err != nil {
		t.Fatal(err)
	}
	only := "Error: Only files in /mnt/user-data/outputs can be presented: "
	for _, tt := range []struct {
		name  string
		paths []string
		want  string
		state []string
	}{
		{"two", []string{out + "/a.md", out + "/d//b.md"}, "Successfully presented files",
			[]string{out + "/a.md", out + "/d/b.md"}},
		{"one twice", []string{out + "/a.md", out + "/./a.md"}, "Successfully presented files",
			[]string{out + "/a.md"}},
		{"one bad rejects all", []string{out + "/a.md", "/mnt/user-data/workspace/c"}, only +
			"/mnt/user-data/workspace/c", nil},
		{"relative", []string{"a.md"}, only + "a.md", nil},
		{"up", []string{out + "/../workspace/c"}, only + out + "/../workspace/c", nil},
		{"prefix", []string{out + "-evil/a"}, only + out + "-evil/a", nil},
		{"the folder", []string{out}, only + out, nil},
		{"folder inside", []string{out + "/d"}, "Error: It is a directory; present the files in it: " + out + "/d",
			nil},
		{"missing", []string{out + "/none"}, "Error: File not found: " + out + "/none", nil},
		{"in a hidden folder", []string{out + "/a.md", out + "/.tool-results/x-1.txt"},
			"Error: Files in hidden folders cannot be presented; copy it out of there first: " + out +
				"/.tool-results/x-1.txt", nil},
		{"below a hidden folder", []string{out + "/d/.e/f/g"},
			"Error: Files in hidden folders cannot be presented; copy it out of there first: " + out + "/d/.e/f/g",
			nil},
		{"a hidden file", []string{out + "/.gitignore"}, "Successfully presented files", []string{out + "/.gitignore"}},
		{"none", []string{}, "Error: filepaths is empty", nil},
		{"fifo", []string{out + "/fifo"}, "Error: open " + out + "/fifo: not a regular file", nil},
		{"link", []string{out + "/link"}, "Error: open " + out + "/link: " + sandbox.ErrOutside.Error(), nil},
		{"too many", strings.Split(strings.Repeat("x ", 101),
			" "),
			"Error: 102 files are too many for one call, the limit is 100. Put them into an archive, or present the important ones.", nil},
	} {
		raw, _ := json.Marshal(map[string]any{"filepaths": tt.paths})
		res, err := New(files).Run(t.Context(), &tool.Call{Args: raw})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, res.Text()); diff != "" || res.IsError != (tt.state == nil) {
			t.Errorf("%s: error %v\n%s", tt.name, res.IsError, diff)
		}
		next, _, err := state.State{}.Apply(res.Update)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.state, threadstate.Artifacts.Get(next)); diff != "" {
			t.Errorf("%s: artifacts %s", tt.name, diff)
		}
	}
}
