package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// LoadOptions say where to look. The zero value is the process's environment and working directory.
type LoadOptions struct {
	// Path is the file that the user named; empty means to look for one.
	Path string
	// Env looks up a variable; nil means os.LookupEnv.
	Env func(name string) (string, bool)
	// Cwd is the folder that relative paths and config.yaml are looked for in; empty means the process's.
	Cwd string
	// Complete, unless it is nil, fills in what is known of a usable model and its entry leaves open.
	Complete func(*Model)
	// Sections are those that the program which embeds this one has added, by name: pointers that encoding/json can
	// fill.
	Sections map[string]any
}

// Load reads the configuration. The file is the first of Path, $PUDU_CONFIG, $DEER_FLOW_CONFIG_PATH and config.yaml in
// the working directory; without one the result is [Default]. A file that was named must exist.
//
// The environment is, first wins: the process's, .env beside the file, .env in the working directory, the credentials
// file ([CredentialsPath]). An error names each problem as file:line, at most 20 of them; a warning names what
// works otherwise than it reads.
func Load(o LoadOptions) (*Config, []Warning, error) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if err := checkOwn(o.Sections); err != nil {
		return nil, nil, err
	}
	here, warnings := EnvFrom(o.Env).withFile(filepath.Join(o.Cwd, ".env"))
	path, err := findConfig(o, here)
	if err != nil {
		return nil, warnings, err
	}
	env := here
	if path != "" && filepath.Dir(path) != filepath.Clean(filepath.Join(o.Cwd, ".")) {
		beside, more := EnvFrom(o.Env).withFile(filepath.Join(filepath.Dir(path), ".env"))
		env.layers = slices.Concat(beside.layers, here.layers[1:])
		warnings = append(warnings, more...)
	}
	env, more := env.withCredentials(CredentialsPath(env))
	warnings = append(warnings, more...)

	cfg, more, err := o.read(path, env)
	warnings = append(warnings, more...)
	if err != nil {
		return nil, warnings, err
	}
	more, err = cfg.readExtensions(o.Cwd)
	return cfg, append(warnings, more...), err
}

// findConfig returns the file to read; empty means none.
func findConfig(o LoadOptions, env Env) (string, error) {
	named, by := o.Path, "--config"
	for _, variable := range []string{"PUDU_CONFIG", "DEER_FLOW_CONFIG_PATH"} {
		if named == "" {
			named, by = env.Get(variable), env.describe(variable)
		}
	}
	if named != "" {
		path := under(o.Cwd, named)
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("read configuration named by %s: %w", by, err)
		}
		return path, nil
	}
	path := filepath.Join(o.Cwd, "config.yaml")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("read configuration: %w", err)
	}
	return path, nil
}

func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func (o LoadOptions) read(path string, env Env) (*Config, []Warning, error) {
	if path == "" {
		cfg := Default()
		cfg.Env = env
		return cfg, nil, nil
	}
	data, err := readFile(path, maxFile)
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	return o.parse(path, data, env)
}

// parse makes the configuration of a file's content.
func (o LoadOptions) parse(path string, data []byte, env Env) (*Config, []Warning, error) {
	t, err := parseTree(path, data)
	if err != nil {
		return nil, nil, err
	}
	cfg := Default()
	cfg.Path, cfg.Env = path, env
	d := &decoder{file: path, env: env, sections: o.Sections}
	cfg.decode(d, t)
	cfg.Models = resolveModels(d, cfg.Models)
	cfg.completeModels(o.Complete)
	cfg.Sandbox.resolve(d)
	cfg.FileHistory.resolve(d, cfg.Sandbox.Limits.Disk)
	cfg.Database.check(d)
	cfg.Checkpointer.check(d, &cfg.Database)
	cfg.check(d)
	if len(d.later) > 0 {
		d.warnf(0, "", "not built yet, without effect: %s", strings.Join(d.later, ", "))
	}
	return cfg, d.warnings, d.err()
}

func (c *Config) completeModels(complete func(*Model)) {
	for i := range c.Models {
		if complete != nil && c.Models[i].Err == nil {
			complete(&c.Models[i])
		}
	}
}

// decode goes through the top level: typed sections, sections that are kept raw, and "x-..." for the user's own
// anchors.
func (c *Config) decode(d *decoder, t *tree) {
	if t.null() {
		return // nothing but comments
	}
	if t.kind != yaml.MappingNode {
		d.failf(t.line, "", "must be a table of keys such as models:, got %s", t.what())
		return
	}
	v := reflect.ValueOf(c).Elem()
	s := schemaOf(v.Type())
	pending := pendingSections()
	given := map[int]string{}
	for _, f := range t.fields {
		i, typed := s.fields[f.name]
		into, own := d.sections[f.name]
		switch {
		case own:
			d.own(f, into)
		case typed:
			d.field(f, f.name, s, v, given)
			if v.Type().Field(i).Tag.Get("pending") == "true" {
				d.notBuilt(f)
			}
		case slices.Contains(pending, f.name):
			c.keep(d, f)
		case !strings.HasPrefix(f.name, "x-"):
			d.failf(f.line, f.name, "unknown section%s",
				suggest(f.name, slices.Concat(s.names, pending, slices.Sorted(maps.Keys(d.sections)))))
		}
	}
}

// keep stores a section that nothing reads yet.
func (c *Config) keep(d *decoder, f field) {
	if f.value.null() {
		return
	}
	raw, err := f.value.json(nil)
	if err != nil {
		d.failf(f.value.line, f.name, "%v", err)
		return
	}
	if c.Raw == nil {
		c.Raw = map[string]json.RawMessage{}
	}
	c.Raw[f.name] = raw
	d.notBuilt(f)
}

// notBuilt notes a section that has no effect yet, if it asks for anything.
func (d *decoder) notBuilt(f field) {
	if asksForSomething(f.value) {
		d.later = append(d.later, fmt.Sprintf("%s (line %d)", f.name, f.line))
	}
}

// asksForSomething is false for what is empty or switched off, also further down.
func asksForSomething(t *tree) bool {
	if t.kind == yaml.ScalarNode {
		return !t.null()
	}
	if slices.ContainsFunc(t.fields, func(f field) bool {
		return f.name == "enabled" && f.value.tag == "!!bool" && strings.EqualFold(f.value.text, "false")
	}) {
		return false
	}
	return slices.ContainsFunc(t.items, asksForSomething) ||
		slices.ContainsFunc(t.fields, func(f field) bool { return asksForSomething(f.value) })
}

// pendingSections are the sections of DeerFlow that are understood as such but not built yet. Who builds one gives it a
// type in [Config] and takes it out here.
func pendingSections() []string {
	return []string{
		"acp_agents", "agent_storage", "auth", "browser_control", "channel_connections", "channels",
		"dedupe_storage", "extensions", "input_polish", "logging", "mcp_tasks", "plugins",
		"run_events", "run_ownership", "scheduler",
		"stream_bridge", "suggestions", "tool_search", "uploads",
	}
}

// check finds values that are fine alone and wrong together.
func (c *Config) check(d *decoder) {
	if l := c.LoopDetection; l.HardLimit < l.WarnThreshold || l.ToolFreqHardLimit < l.ToolFreqWarn {
		d.failf(0, "loop_detection", "a hard limit must not be below its warning: hard_limit %d and warn_threshold "+
			"%d, tool_freq_hard_limit %d and tool_freq_warn %d",
			l.HardLimit, l.WarnThreshold, l.ToolFreqHardLimit, l.ToolFreqWarn)
	}
	if b := c.TokenBudget; b.HardStopThreshold < b.WarnThreshold {
		d.failf(0, "token_budget", "hard_stop_threshold %g must not be below warn_threshold %g", b.HardStopThreshold,
			b.WarnThreshold)
	}
	c.checkCost(d)
	c.checkSkills(d)
	c.checkFallbacks(d)
	c.checkSubagents(d)
	if l := c.LLMCall; l.RetryCapDelay < l.RetryBaseDelay {
		d.failf(0, "llm_call", "retry_cap_delay_ms must not be below retry_base_delay_ms")
	}
	if s := c.ToolOutput.StorageSubdir; s == "" || s == "." || s == ".." || strings.ContainsAny(s, "/\\\x00") {
		d.failf(0, "tool_output.storage_subdir", "must be the name of one folder, got %q", s)
	}
	for _, m := range []struct{ key, name string }{
		{"title.model_name", c.Title.Model}, {"summarization.model_name", c.Summarization.Model},
		{"memory.backend_config.model", string(c.Memory.Backend.Model)},
	} {
		if _, ok := c.Model(m.name); m.name != "" && !ok {
			d.warnf(0, m.key, "no configured model is named %q: the run's own model is used", m.name)
		}
	}
}

var _ custom = (*Thresholds)(nil)

func (ts *Thresholds) decode(d *decoder, t *tree, at string) {
	var list []Threshold
	if t.kind == yaml.MappingNode {
		list = make([]Threshold, 1)
		d.value(t, at, reflect.ValueOf(&list[0]).Elem(), "")
	} else {
		d.list(t, at, reflect.ValueOf(&list).Elem(), "")
	}
	*ts = list
}
