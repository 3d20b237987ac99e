package sandbox

import (
	"strings"
	"testing"
)

func TestSpecCheck(t *testing.T) {
	ok := Mount{Host: "/srv/w", Path: Workspace}
	tests := []struct {
		name string
		spec Spec
		want string
	}{
		{"good", Spec{ID: "t-1", Mounts: []Mount{ok}}, ""},
		{"empty id", Spec{}, "sandbox id"},
		{"id with slash", Spec{ID: "a/b"}, "sandbox id"},
		{"id of dots", Spec{ID: ".."}, "sandbox id"},
		{"outside /mnt", Spec{ID: "t", Mounts: []Mount{{Host: "/a", Path: "/etc"}}}, "below /mnt"},
		{"mnt itself", Spec{ID: "t", Mounts: []Mount{{Host: "/a", Path: "/mnt"}}}, "below /mnt"},
		{"dot dot", Spec{ID: "t", Mounts: []Mount{{Host: "/a", Path: "/mnt/../etc"}}}, "below /mnt"},
		{"a slash too many", Spec{ID: "t", Mounts: []Mount{{Host: "/a", Path: "/mnt//a"}}}, "below /mnt"},
		{"a new line", Spec{ID: "t", Mounts: []Mount{{Host: "/a", Path: "/mnt/a\n"}}}, "below /mnt"},
		{"nul in host", Spec{ID: "t", Mounts: []Mount{{Host: "/a\x00", Path: "/mnt/a"}}}, "absolute"},
		{"relative host", Spec{ID: "t", Mounts: []Mount{{Host: "a", Path: "/mnt/a"}}}, "absolute"},
		{"inside a writable one",
			Spec{ID: "t", Mounts: []Mount{{Host: "/a", Path: "/mnt/a"}, {Host: "/b", Path: "/mnt/a/b"}}},
			"inside another"},
		{"inside a read-only one",
			Spec{ID: "t", Mounts: []Mount{{Host: "/a", Path: "/mnt/a", ReadOnly: true},
				{Host: "/b", Path: "/mnt/a/b"}}}, ""},
		{"twice", Spec{ID: "t", Mounts: []Mount{ok, ok}}, "twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantError(t, tt.spec.Check(), tt.want) })
	}
}

func TestCommandCheck(t *testing.T) {
	tests := []struct {
		name string
		cmd  Command
		want string
	}{
		{"good", Command{Script: "true", Dir: Workspace, Env: []string{"A=b=c", "_x="}}, ""},
		{"nul in script", Command{Script: "a\x00b"}, "NUL"},
		{"relative folder", Command{Dir: "x"}, "absolute"},
		{"nul in folder", Command{Dir: "/x\x00"}, "absolute"},
		{"no value", Command{Env: []string{"A"}}, "NAME=value"},
		{"function", Command{Env: []string{"BASH_FUNC_ls%%=() { :; }"}}, "NAME=value"},
		{"nul in value", Command{Env: []string{"A=\x00"}}, "NUL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantError(t, tt.cmd.Check(), tt.want) })
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Fatalf("got error %v, want one with %q", err, want)
	}
}

func TestLimitsOrDefault(t *testing.T) {
	def := Limits{Processes: 256, Memory: 2 << 30, Tmp: 256 << 20, Disk: 4 << 30, FileSize: 2 << 30}
	set := Limits{Processes: 1, Memory: 2, CPUs: 0.5, Tmp: 3, Disk: 4, FileSize: 5}
	for limits, want := range map[Limits]Limits{{}: def, {Processes: -1, Memory: -1, CPUs: -1, Tmp: -1, Disk: -1,
		FileSize: -1}: def, set: set} {
		if got := limits.OrDefault(); got != want {
			t.Errorf("%+v: got %+v, want %+v", limits, got, want)
		}
	}
}

func FuzzSpecCheckKeepsMountsBelowMnt(f *testing.F) {
	for _, s := range []string{"/mnt/a", "/mnt/../a", "/mnt//a", "/mnt/a/.", "/etc", "", "/mnt/a\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		err := Spec{ID: "t", Mounts: []Mount{{Host: "/h", Path: p}}}.Check()
		if err == nil && (!strings.HasPrefix(p, "/mnt/") || strings.Contains(p+"/", "/../") ||
			strings.Contains(p, "//")) {
			t.Fatalf("accepted %q", p)
		}
	})
}

type unnamed struct{ Sandbox }

type identified struct{ Sandbox }

func (identified) Instance() string { return "i1" }

func TestInstanceOf(t *testing.T) {
	if a, b := InstanceOf(identified{}), InstanceOf(unnamed{}); a != "i1" || b != "" {
		t.Errorf("instances %q and %q", a, b)
	}
}
