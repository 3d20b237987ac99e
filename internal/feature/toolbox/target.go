package toolbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// Python is the one that the sandbox has.
const Python = "/usr/bin/python3"

// Target is what a version of the toolbox is made for.
type Target struct {
	// Python is "3.11", Arch "amd64" or "arm64".
	Python string `json:"python"`
	Arch   string `json:"arch"`
}

// ParseTarget reads a target from words such as "3.11" and "amd64"; an empty arch is this machine's.
func ParseTarget(python, arch string) (Target, error) {
	if arch == "" {
		arch = runtime.GOARCH
	}
	t := Target{python, arch}
	return t, t.check()
}

var (
	pythonVersion = regexp.MustCompile(`^3\.[0-9]{1,3}$`)
	versionName   = regexp.MustCompile(`^python3\.[0-9]{1,3}-(amd64|arm64)-[0-9a-f]{16}$`)
)

func (t Target) check() error {
	if !pythonVersion.MatchString(t.Python) {
		return fmt.Errorf("python %.40q: %w: want a version such as 3.12", t.Python, ErrTarget)
	}
	if t.Arch != "amd64" && t.Arch != "arm64" {
		return fmt.Errorf("machine %.40q: %w: only for amd64 and arm64", t.Arch, ErrTarget)
	}
	return nil
}

// String is "Python 3.11 on amd64".
func (t Target) String() string { return "Python " + t.Python + " on " + t.Arch }

func (t Target) prefix() string { return "python" + t.Python + "-" + t.Arch + "-" }

// Question is a shell command that has the sandbox's Python say what it is. [ParseAnswer] reads its output.
const Question = Python + ` -I -c 'import json, os, platform, struct, sys, sysconfig
try: libc = os.confstr("CS_GNU_LIBC_VERSION")
except (OSError, ValueError): libc = ""
print(json.dumps({"name": sys.implementation.name, "python": "%d.%d" % sys.version_info[:2],
 "machine": platform.machine(), "bits": struct.calcsize("P") * 8, "libc": libc or "",
 "free": bool(sysconfig.get_config_var("Py_GIL_DISABLED"))}))'`

// The least version of the C library for which the wheels are built.
const leastGlibc = 28

// ParseAnswer reads what a Python says about itself. One that no toolbox fits gives [ErrTarget] and why.
func ParseAnswer(out string) (Target, error) {
	var a struct {
		Name, Python, Machine, Libc string
		Bits                        int
		Free                        bool
	}
	line := strings.TrimSpace(out)
	if line == "" {
		return Target{}, fmt.Errorf("%s: %w: it is missing or does not start; install Python 3.11 to 3.14", Python,
			ErrTarget)
	}
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		return Target{}, fmt.Errorf("%s: %w: it answered %.120q", Python, ErrTarget, line)
	}
	t := Target{a.Python, map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[a.Machine]}
	kind := fmt.Sprintf("%s is %.20s %.10s with the C library %.20q on %.20s", Python, a.Name, a.Python, a.Libc,
		a.Machine)
	minor, isGlibc := strings.CutPrefix(a.Libc, "glibc 2.")
	n, err := strconv.Atoi(minor)
	switch {
	case t.check() != nil, a.Name != "cpython", a.Bits != 64:
		return Target{}, fmt.Errorf("%s: %w: it is for CPython 3.11 to 3.14 on amd64 and arm64", kind, ErrTarget)
	case a.Free:
		return Target{}, fmt.Errorf("%s: %w: it is a build without the global lock", kind, ErrTarget)
	case !isGlibc, err != nil, n < leastGlibc:
		return Target{}, fmt.Errorf("%s: %w: it needs the GNU C library 2.%d or later", kind, ErrTarget, leastGlibc)
	}
	return t, nil
}
