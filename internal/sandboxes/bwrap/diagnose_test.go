//go:build linux

package bwrap

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/sandbox"
)

// What bwrap says, and a word of the remedy.
func TestDiagnose(t *testing.T) {
	tests := []struct{ name, says, want string }{
		{"namespaces used up",
			"bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
			"max_user_namespaces"},
		{"no space", "bwrap: Creating new namespace failed: No space left on device", "max_user_namespaces"},
		{"debian sysctl", "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces. On e.g. debian this can be enabled with 'sysctl kernel.unprivileged_userns_clone=1'.", "unprivileged_userns_clone"},
		{"seccomp of docker", "bwrap: Creating new namespace failed: Operation not permitted",
			"unprivileged_userns_clone"},
		{"apparmor of ubuntu", "bwrap: setting up uid map: Permission denied", "AppArmor"},
		{"apparmor, loopback", "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor"},
		{"masked proc", "bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths=unconfined"},
		{"container with caps", "bwrap: pivot_root: Operation not permitted", "Docker"},
		{"initramfs", "bwrap: pivot_root: Invalid argument", "initramfs"},
		{"old bwrap", "bwrap: Unknown option --disable-userns", "0.8.0"},
		{"no bash", "bwrap: execvp /bin/bash: No such file or directory", "apt install bash"},
		{"caps without root", "bwrap: Unexpected capabilities but not setuid, old file caps config?", "capabilities"},
		{"closed folder", "bwrap: Can't find source path /root/x: Permission denied", "owner"},
		{"something new", "bwrap: the moon is full", "the moon is full"},
		{"nothing", "", "signal"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := diagnose(tt.says, errors.New("signal: killed"))
			if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestProbeWithoutBubblewrap(t *testing.T) {
	err := New(Config{Binary: "no-such-bwrap"}).Probe(t.Context())
	if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "apt install bubblewrap") {
		t.Fatalf("got %v", err)
	}
}

func TestProbeOfAProgramThatIsNotBubblewrap(t *testing.T) {
	for _, bin := range []string{"/bin/true", "/bin/false", "/bin/cat"} {
		if err := New(Config{Binary: bin}).Probe(t.Context()); !errors.Is(err, sandbox.ErrUnavailable) {
			t.Errorf("%s: got %v", bin, err)
		}
	}
}

// TestProbeWhereNamespacesAreOff runs the probe where it must really fail: inside a bubblewrap that allows no further
// user namespaces.
func TestProbeWhereNamespacesAreOff(t *testing.T) {
	exe, err := os.Open("/proc/self/exe") // its path may be closed to the user that runs this
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	cmd := exec.Command("bwrap", "--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns", "--dev-bind",
		"/", "/",
		"--tmpfs", "/tmp", "--", "/proc/self/fd/3", "-test.run=^TestHelperProcess$")
	cmd.Env = []string{"PATH=/usr/bin:/bin", helperEnv + "=probe"}
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{exe}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "probe: ") {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), sandbox.ErrUnavailable.Error()) ||
		!strings.Contains(string(out), "max_user_namespaces") {
		t.Errorf("got %s", out)
	}
}
