//go:build linux

package bwrap

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/pudu-ai/pudu/sandbox"
)

// unavailable wraps an error so that it says [sandbox.ErrUnavailable] and, for what is known, how to help.
func unavailable(what string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: the program bwrap is missing; install it with: apt install bubblewrap",
			sandbox.ErrUnavailable)
	}
	return fmt.Errorf("%w: %s: %w", sandbox.ErrUnavailable, what, err)
}

// remedies are what bwrap says when it cannot isolate, and what helps. The first match counts.
var remedies = []struct{ says, means string }{
	{"namespaces exceeded", noMore},
	{"No space left on device", noMore},
	{"execvp /bin/bash", "there is no bash; install it with: apt install bash"},
	{"mount proc", "the server runs in a container that hides parts of /proc; " +
		"start it with --security-opt seccomp=unconfined --security-opt systempaths=unconfined (security_opt in " +
		"compose)"},
	{"pivot_root",
		"the root folder cannot be changed: the server runs in a container with added capabilities or from an " +
			"initramfs; in Docker use --security-opt seccomp=unconfined --security-opt systempaths=unconfined " +
			"instead of " +
			"--privileged or --cap-add"},
	{"setting up uid map", "the distribution restricts user namespaces; " + apparmor},
	{"loopback", "the distribution restricts user namespaces; " + apparmor},
	{"No permissions to create", "user namespaces are not allowed; " + anyUser},
	{"Creating new namespace failed", "user namespaces are not allowed; " + anyUser},
	{"Operation not permitted", "user namespaces are not allowed; " + anyUser},
	{"Unknown option", "this bubblewrap is too old; version 0.8.0 or newer is needed"},
	{"Unexpected capabilities",
		"the server has capabilities without being root; run it as root or as a plain user without them"},
	{"Permission denied",
		"the sandbox's user may not read one of the folders; check the owner and mode of the data folder"},
}

const noMore = "the kernel allows no more user namespaces, or none; raise it with: sysctl " +
	"user.max_user_namespaces=15000"

const apparmor = "on Ubuntu allow them for bwrap with an AppArmor profile (apt install apparmor-profiles, " +
	"then link bwrap-userns-restrict into /etc/apparmor.d) or with: sysctl " +
	"kernel.apparmor_restrict_unprivileged_userns=0"

const anyUser = "on Debian: sysctl kernel.unprivileged_userns_clone=1; " + apparmor +
	"; in Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined"

// diagnose explains why a sandbox did not start, from bwrap's own words and what the server saw.
func diagnose(said string, err error) error {
	if said == "" {
		return fmt.Errorf("%w: it did not start: %w", sandbox.ErrUnavailable, err)
	}
	for _, r := range remedies {
		if strings.Contains(said, r.says) {
			return fmt.Errorf("%w: %s (%s)", sandbox.ErrUnavailable, r.means, said)
		}
	}
	return fmt.Errorf("%w: it did not start: %w (%s)", sandbox.ErrUnavailable, err, said)
}
