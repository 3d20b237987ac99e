package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOpener: a browser is opened where somebody sits at the machine, and nowhere else.
func TestOpener(t *testing.T) {
	for _, c := range []struct {
		system, want string
		env          map[string]string
	}{
		{"linux", "xdg-open", map[string]string{"DISPLAY": ":0"}},
		{"linux", "xdg-open", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}},
		{"linux", "", nil},
		{"linux", "", map[string]string{"DISPLAY": ":0", "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}},
		{"linux", "", map[string]string{"DISPLAY": ":0", "CI": "true"}},
		{"darwin", "open", nil},
		{"darwin", "", map[string]string{"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}},
	} {
		if got := opener(c.system, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.system, c.env, got, c.want)
		}
	}
}

// TestOpenPages hands the address to the program of the system.
func TestOpenPages(t *testing.T) {
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	script := "#!/bin/sh\nprintf %s \"$1\" >" + told + ".new && mv " + told + ".new " + told + "\n"
	for _, name := range []string{"xdg-open", "open"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	t.Setenv("DISPLAY", ":9")
	t.Setenv("SSH_CONNECTION", "")
	t.Setenv("CI", "")
	openPages(context.Background(), "http://127.0.0.1:2026")
	for end := time.Now().Add(openTime); ; time.Sleep(10 * time.Millisecond) {
		if got, err := os.ReadFile(told); err == nil {
			if string(got) != "http://127.0.0.1:2026" {
				t.Errorf("told %q", got)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal("no browser was opened")
		}
	}
}
