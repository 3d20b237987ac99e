package config

import (
	"encoding/json"
	"path/filepath"
)

// Skills says where public skills lie, and how models are told of skills.
type Skills struct {
	// Use is DeerFlow's storage class, which has no effect: skills are kept in the database.
	Use string `key:"use"`
	// Path is a folder whose folder "public" holds the public skills, instead of those that Pudu brings; empty for
	// those.
	Path string `key:"path"`
	// ContainerPath is where the agent sees skills. It cannot be changed.
	ContainerPath string `key:"container_path"`
	// Deferred has models told of the names alone; they ask for the rest.
	Deferred bool `key:"deferred_discovery"`
}

// SkillEvolution says whether agents may write skills, and who looks at what is installed and written.
type SkillEvolution struct {
	Enabled bool `key:"enabled"`
	// Model is the name of the model that reviews skills; empty for the standard one.
	Model string `key:"moderation_model_name"`
	// FailClosed refuses what no model has reviewed.
	FailClosed bool `key:"security_fail_closed"`
}

// SkillSettings are all that concern skills.
type SkillSettings struct {
	Skills

	Scan       bool
	Model      string
	FailClosed bool
	// Switches are those of extensions_config.json, by the names of skills.
	Switches map[string]bool
}

// skillsPath is where the agent sees skills.
const skillsPath = "/mnt/skills"

// SkillSettings are those of the configuration.
func (c *Config) SkillSettings() SkillSettings {
	return SkillSettings{c.Skills, c.SkillScan.Enabled, c.SkillEvolution.Model, c.SkillEvolution.FailClosed,
		c.SkillSwitches}
}

// checkSkills completes the section.
func (c *Config) checkSkills(d *decoder) {
	s := &c.Skills
	if s.ContainerPath != "" && filepath.ToSlash(filepath.Clean(s.ContainerPath)) != skillsPath {
		d.warnf(0, "skills.container_path", "has no effect: skills are at %s", skillsPath)
	}
	if s.Path != "" && !filepath.IsAbs(s.Path) && c.Path != "" {
		s.Path = filepath.Join(filepath.Dir(c.Path), s.Path)
	}
	if _, ok := c.Model(c.SkillEvolution.Model); c.SkillEvolution.Model != "" && !ok {
		d.warnf(0, "skill_evolution.moderation_model_name", "no configured model is named %q: no skill can be reviewed",
			c.SkillEvolution.Model)
	}
}

// skillSwitches reads those of extensions_config.json: {"name": {"enabled": false}}. What is no such table is left out.
func skillSwitches(raw json.RawMessage) map[string]bool {
	var list map[string]struct {
		Enabled *bool `json:"enabled"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	out := map[string]bool{}
	for name, s := range list {
		out[name] = s.Enabled == nil || *s.Enabled
	}
	return out
}
