package config

import (
	"encoding/json"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The sandbox providers.
const (
	Bubblewrap  = "bubblewrap" // isolated; the default
	HostSandbox = "host"       // not isolated: commands run as the server's user
	NoSandbox   = "none"       // no code tools
)

// Sandbox says where the agent's code runs and what it may take.
type Sandbox struct {
	// Use is the provider as written; Provider is what it means: [Bubblewrap], [HostSandbox] or [NoSandbox].
	Use      string `key:"use"`
	Provider string
	// AllowHostBash is DeerFlow's switch for shell commands without isolation; it matters to [HostSandbox] only.
	AllowHostBash bool `key:"allow_host_bash"`
	// Mounts are further folders; reserved and impossible ones are left out with a warning.
	Mounts []Mount `key:"mounts"`
	// Environment is added to every command. A variable that is not set gives an empty value.
	Environment map[string]string `key:"environment" unset:"empty"`
	// The bounds of what a tool returns, in characters; 0 means no bound.
	BashOutputMaxChars     int           `key:"bash_output_max_chars" allow:"[0,)"`
	ReadFileOutputMaxChars int           `key:"read_file_output_max_chars" allow:"[0,)"`
	LsOutputMaxChars       int           `key:"ls_output_max_chars" allow:"[0,)"`
	CommandTimeout         time.Duration `key:"bash_command_timeout" unit:"s" allow:"(0,)"`
	Limits                 Limits        `key:"limits"`
	// ToolboxIndex is the base URL of the index of Python packages that the toolbox is installed from; empty means the
	// usual one. PUDU_TOOLBOX_INDEX goes before it.
	ToolboxIndex string `key:"toolbox_index"`
	// Extra are the other keys, most of them of providers that Pudu does not have.
	Extra map[string]json.RawMessage `key:"*" later:"image,port,replicas,overflow_policy,acquire_timeout,burst_limit,container_prefix,idle_timeout,health_check_skip_seconds,ownership,thread_data_mounts,provisioner_url,provisioner_api_key,auto_start,base_url,api_key,template,domain,home_dir,memory_mib,cpus"`
	Line  int                        `key:"@line"`
}

// Mount shows a folder of the host inside the sandbox.
type Mount struct {
	// HostPath is absolute; it may not exist yet.
	HostPath string `key:"host_path" required:"true"`
	// ContainerPath is absolute, clean and below /mnt.
	ContainerPath string `key:"container_path" required:"true"`
	ReadOnly      bool   `key:"read_only"`
	Line          int    `key:"@line"`
}

// Limits bound what all processes of a sandbox take together. Zero means the sandbox's own default.
type Limits struct {
	Processes int   `key:"processes" allow:"[1,)"`
	Memory    Bytes `key:"memory"`
	Tmp       Bytes `key:"tmp"`
	Disk      Bytes `key:"disk"`
}

// Bytes is an amount of memory or disk, written as a number of bytes or with a unit: "512M", "2GiB".
type Bytes int64

var _ custom = (*Bytes)(nil)

func (b *Bytes) decode(d *decoder, t *tree, at string) {
	s, ok := d.scalar(t, at, "a size", "")
	if !ok {
		return
	}
	n, ok := parseBytes(s)
	if !ok {
		d.failf(t.line, at, `must be a size above 0 such as 1048576, "512M" or "2GiB", got %s`, t.what())
		return
	}
	*b = Bytes(n)
}

// parseBytes reads a size; K, M, G and T are powers of 1024, with or without "B" or "iB".
func parseBytes(s string) (int64, bool) {
	s = strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B"), "I")
	shift := 0
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]); i >= 0 {
			s, shift = strings.TrimSpace(s[:len(s)-1]), 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n > (1<<62)>>shift {
		return 0, false
	}
	return n << shift, true
}

// resolve finds the provider, and checks the mounts and the environment.
func (s *Sandbox) resolve(d *decoder) {
	s.Provider = s.provider(d)
	var mounts []Mount
	for i := range s.Mounts {
		if m := s.Mounts[i]; m.usable(d, "sandbox.mounts["+strconv.Itoa(i)+"]") {
			mounts = append(mounts, m)
		}
	}
	s.Mounts = mounts
	for name := range s.Environment {
		if !envName.MatchString(name) {
			d.failf(s.Line, "sandbox.environment", "%q is no variable name: use letters, digits and _", name)
		}
	}
}

func (s *Sandbox) provider(d *decoder) string {
	const at = "sandbox.use"
	class := s.Use[strings.LastIndex(s.Use, ":")+1:]
	switch s.Use {
	case "", Bubblewrap, "bwrap":
		return Bubblewrap
	case HostSandbox, NoSandbox:
		return s.Use
	case "deerflow.sandbox.local:LocalSandboxProvider":
		d.warnf(s.Line, at, `%s becomes bubblewrap: the same paths, but commands are isolated from this machine; `+
			`write "use: host" to run them without isolation`, class)
		return Bubblewrap
	case "deerflow.community.aio_sandbox:AioSandboxProvider":
		d.warnf(s.Line, at, "%s becomes bubblewrap: commands are isolated on this machine, without containers", class)
		return Bubblewrap
	}
	if strings.HasPrefix(s.Use, "deerflow.community.") {
		d.warnf(s.Line, at, "%s is not built: bubblewrap isolates commands on this machine instead", class)
		return Bubblewrap
	}
	d.failf(s.Line, at, "%q is not known: one of bubblewrap, host, none%s", s.Use,
		suggest(s.Use, []string{Bubblewrap, HostSandbox, NoSandbox}))
	return NoSandbox
}

func (m *Mount) usable(d *decoder, at string) bool {
	if m.HostPath == "" || m.ContainerPath == "" {
		return false // told already
	}
	if !filepath.IsAbs(m.HostPath) {
		d.failf(m.Line, at+".host_path", "must be an absolute path, got %q", m.HostPath)
		return false
	}
	if !path.IsAbs(m.ContainerPath) || path.Clean(m.ContainerPath) != strings.TrimRight(m.ContainerPath, "/") {
		d.failf(m.Line, at+".container_path", "must be an absolute path without . and .., got %q", m.ContainerPath)
		return false
	}
	m.HostPath, m.ContainerPath = filepath.Clean(m.HostPath), path.Clean(m.ContainerPath)
	if !strings.HasPrefix(m.ContainerPath, "/mnt/") {
		d.warnf(m.Line, at, "left out: %s is not below /mnt; write container_path: /mnt/%s", m.ContainerPath,
			path.Base(m.ContainerPath))
		return false
	}
	for _, own := range []string{"/mnt/user-data", "/mnt/folder", "/mnt/skills", "/mnt/toolbox", "/mnt/acp-workspace"} {
		if m.ContainerPath == own || strings.HasPrefix(m.ContainerPath, own+"/") {
			d.warnf(m.Line, at, "left out: %s belongs to Pudu; choose another folder below /mnt", own)
			return false
		}
	}
	return true
}
