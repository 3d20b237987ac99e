package config

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDataDir(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		uid  int
		want string
	}{
		{"Pudu's variable", map[string]string{"PUDU_DATA": "/a", "DEER_FLOW_HOME": "/b", "HOME": "/h"}, 0, "/a"},
		{"DeerFlow's variable", map[string]string{"DEER_FLOW_HOME": "/b", "HOME": "/h"}, 0, "/b"},
		{"root", map[string]string{"HOME": "/root", "XDG_DATA_HOME": "/x"}, 0, "/var/lib/pudu"},
		{"a user with XDG", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, 1000, "/x/pudu"},
		{"a relative XDG folder does not count", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "x"}, 1000, "/h/.local/share/pudu"},
		{"a user", map[string]string{"HOME": "/h"}, 1000, "/h/.local/share/pudu"},
	} {
		if got, err := DataDir(EnvFrom(vars(c.env)), c.uid); err != nil || got != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
	if _, err := DataDir(Env{}, 1000); err == nil || !strings.Contains(err.Error(), "set PUDU_DATA") {
		t.Errorf("nowhere: %v", err)
	}
	if got, err := DataDir(EnvFrom(vars(map[string]string{"PUDU_DATA": "here"})), 0); err != nil || !filepath.IsAbs(got) {
		t.Errorf("relative: %q %v", got, err)
	}
}

func TestUserFolder(t *testing.T) {
	for id, want := range map[string]string{
		"user_1-A":               "user_1-A",
		"a@b.c":                  "a-b-c-d648b243a3e817ea",
		"..":                     "---5ec1f7e700f37c3d",
		"":                       "-e3b0c44298fc1c14",
		strings.Repeat("x", 300): strings.Repeat("x", 128) + "-",
	} {
		if got := UserFolder(id); !strings.HasPrefix(got, want) || len(got) > 145 {
			t.Errorf("%q gives %q, want %q", id, got, want)
		}
	}
}

func TestThread(t *testing.T) {
	p, err := Thread("/data", "u", "t-1")
	want := ThreadPaths{
		UserData:  "/data/users/u/threads/t-1/user-data",
		Workspace: "/data/users/u/threads/t-1/user-data/workspace",
		Uploads:   "/data/users/u/threads/t-1/user-data/uploads",
		Outputs:   "/data/users/u/threads/t-1/user-data/outputs",
	}
	if err != nil || p != want {
		t.Errorf("%+v %v", p, err)
	}
	for _, id := range []string{"", ".", "..", "a/b", "a b", "a\n", "ä", strings.Repeat("x", 65), "a\x00"} {
		if _, err := Thread("/data", "u", id); err == nil {
			t.Errorf("thread %q was taken", id)
		}
	}
}

func FuzzThread(f *testing.F) {
	for _, s := range []string{"default", "../..", "a\x00", "ü", "\xff", "a\n", ".", strings.Repeat("a", 300)} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, user, thread string) {
		p, err := Thread("/data", user, thread)
		if (err == nil) != (CheckThreadID(thread) == nil) {
			t.Fatalf("%q: %v", thread, err)
		}
		folder := UserFolder(user)
		if !safeID.MatchString(folder) || len(folder) > 200 {
			t.Fatalf("folder %q", folder)
		}
		if err != nil {
			return
		}
		if want := "/data/users/" + folder + "/threads/" + thread + "/user-data"; p.UserData != want || p.Outputs != want+"/outputs" {
			t.Fatalf("%+v, want %s", p, want)
		}
	})
}
