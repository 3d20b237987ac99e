package gemini

import (
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/model"
)

// family is what the name of a model tells about its habits. The zero value is a model that is not known.
type family struct {
	known bool
	// levels and budgets say how the model takes a bound of its thinking; one at most is set.
	levels, budgets bool
	// signed says that the API refuses calls of the history that have no thought signature.
	signed bool
	// least is the least thinking: the level or the budget that comes nearest to "off".
	least string
	// middle is the level for the effort "medium".
	middle string
}

// familyOf reads a name such as "gemini-2.5-flash" or "models/gemini-3-pro-preview". A name without a number, such as
// "gemini-flash-latest", means the newest models.
func familyOf(name string) family {
	_, rest, ok := strings.Cut(name, "gemini-")
	if !ok {
		return family{}
	}
	number, _, _ := strings.Cut(rest, "-")
	version, err := strconv.ParseFloat(number, 64)
	pro := !strings.Contains(rest, "flash")
	switch {
	case err == nil && version < 2.5:
		return family{known: true}
	case err == nil && version < 3 && pro:
		return family{known: true, budgets: true, least: "128"} // it cannot be turned off
	case err == nil && version < 3:
		return family{known: true, budgets: true, least: "0"}
	}
	f := family{known: true, levels: true, signed: true, least: "MINIMAL", middle: "MEDIUM"}
	if pro {
		f.least = "LOW"
	}
	if strings.HasPrefix(rest, "3-pro") {
		f.middle = "HIGH"
	}
	return f
}

// level is Gemini 3's word for an effort, empty if there is none.
func (f *family) level(effort string) string {
	switch effort {
	case "minimal":
		return f.least
	case "low":
		return "LOW"
	case "medium":
		return f.middle
	case "high":
		return "HIGH"
	}
	return ""
}

// budget is Gemini 2.5's tokens for an effort, as the vendor translates OpenAI's; empty if there are none.
func budget(effort string) string {
	switch effort {
	case "minimal", "low":
		return "1024"
	case "medium":
		return "8192"
	case "high":
		return "24576"
	}
	return ""
}

// bound is the member of thinkingConfig that bounds the thinking, empty for the model's default.
func (m *Model) bound(s *model.Settings) string {
	f := &m.family
	off := s.Thinking != nil && !*s.Thinking
	on := s.Thinking != nil && *s.Thinking
	switch {
	case off && f.levels:
		return thinkingLevel(f.least)
	case off:
		return thinkingBudget(f.least)
	case f.levels && f.level(s.Effort) != "":
		return thinkingLevel(f.level(s.Effort))
	case f.budgets && budget(s.Effort) != "":
		return thinkingBudget(budget(s.Effort))
	case on && m.cfg.ThinkingBudget != 0 && (f.levels || f.budgets || !f.known):
		return thinkingBudget(strconv.Itoa(m.cfg.ThinkingBudget))
	}
	return ""
}

func thinkingLevel(level string) string { return `"thinkingLevel":"` + level + `"` }

func thinkingBudget(tokens string) string {
	if tokens == "" {
		return ""
	}
	return `"thinkingBudget":` + tokens
}
