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
		{"a relative XDG folder does not count", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "x"}, 1000,
			"/h/.local/share/pudu"},
		{"a user", map[string]string{"HOME": "/h"}, 1000, "/h/.local/share/pudu"},
	} {
		if got, err := DataDir(EnvFrom(vars(c.env)), c.uid); err != nil || got != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
	if _, err := DataDir(Env{}, 1000); err == nil || !strings.Contains(err.Error(), "set PUDU_DATA") {
		t.Errorf("nowhere: %v", err)
	}
	if got, err := DataDir(EnvFrom(vars(map[string]string{"PUDU_DATA": "here"})), 0); err != nil ||
		!filepath.IsAbs(got) {
		t.Errorf("relative: %q %v", got, err)
	}
}
