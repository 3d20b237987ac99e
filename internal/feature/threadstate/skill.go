package threadstate

import (
	"errors"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/state"
)

// Bounds of [SkillContext].
const (
	MaxSkills           = 8
	MaxSkillDescription = 500 // characters
)

// SkillContext are the skills that the agent read, the one read last at the end, each path once. Only the newest 8
// are kept and their descriptions are cut at 500 characters. A nil or empty update changes nothing; a skill without a
// path is refused.
var SkillContext = state.Reduced("skill_context", mergeSkillContext)

// SkillEntry is a skill that the agent read. Its text stays in the file.
type SkillEntry struct {
	Name        string `json:"name"`
	Path        string `json:"path"`
	Description string `json:"description"`
	LoadedAt    int    `json:"loaded_at"` // index of the message that read it
}

func mergeSkillContext(old, upd []SkillEntry) ([]SkillEntry, error) {
	merged := append(make([]SkillEntry, 0, len(old)+len(upd)), old...)
	for _, s := range upd {
		if s.Path == "" {
			return nil, errors.New("a skill has no path; use that of its SKILL.md")
		}
		s.Description = excerpt.First(s.Description, MaxSkillDescription)
		merged = slices.DeleteFunc(merged, func(m SkillEntry) bool { return m.Path == s.Path })
		merged = append(merged, s)
	}
	return merged[max(0, len(merged)-MaxSkills):], nil
}
