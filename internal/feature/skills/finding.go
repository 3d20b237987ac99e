package skills

import (
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

// The severities of findings. Critical ones keep a skill from being installed; the others are shown, to people and to
// the model that reviews the skill.
const (
	Critical = "CRITICAL"
	High     = "HIGH"
	Medium   = "MEDIUM"
	Low      = "LOW"
)

// Finding is what the scan has found.
type Finding struct {
	Rule     string  `json:"rule_id"`
	Severity string  `json:"severity"`
	File     *string `json:"file"` // nil: of the archive as a whole
	Line     *int    `json:"line"` // from 1; nil if it is no matter of one line
	Message  string  `json:"message"`
	Remedy   string  `json:"remediation"`
	Evidence string  `json:"evidence"` // what was found; a secret is not shown
}

// Where is the finding's file and line.
func (f Finding) Where() string {
	switch {
	case f.File == nil:
		return "<archive>"
	case f.Line == nil:
		return *f.File
	}
	return fmt.Sprintf("%s:%d", *f.File, *f.Line)
}

const maxEvidence = 120 // characters

// evidence makes what was found fit to be shown.
func evidence(s string) string {
	return excerpt.First(strings.Map(visible, strings.ToValidUTF8(s, "\ufffd")), maxEvidence)
}

// critical are those that refuse a skill.
func critical(list []Finding) (out []Finding) {
	for _, f := range list {
		if f.Severity == Critical {
			out = append(out, f)
		}
	}
	return out
}

// ScanError refuses a skill for what the scan has found.
type ScanError struct {
	Message string `json:"message"`
	// Skill is its name; nil if it is an archive of which no name is known.
	Skill    *string   `json:"skill_name"`
	Findings []Finding `json:"findings"`
}

// Error implements error.
func (e *ScanError) Error() string { return e.Message }

// refusal is the error for the critical ones of findings; nil if there are none. Before the SKILL.md was read there is
// no name.
func refusal(name string, list []Finding) error {
	bad := critical(list)
	if len(bad) == 0 {
		return nil
	}
	const named = 5 // findings are enough for a sentence
	var why []string
	for i, f := range bad {
		if i == named {
			why = append(why, fmt.Sprintf("and %d more", len(bad)-named))
			break
		}
		line := fmt.Sprintf("%s (%s) at %s: %s", f.Rule, f.Severity, f.Where(), f.Message)
		if name != "" {
			line += " Remediation: " + f.Remedy
		}
		why = append(why, line)
	}
	e := &ScanError{Findings: bad}
	if name == "" {
		e.Message = "Static security scan blocked unsafe skill archive: " + strings.Join(why, "; ")
	} else {
		e.Skill = &name
		e.Message = fmt.Sprintf("Static security scan blocked skill '%s': %s", name, strings.Join(why, "; "))
	}
	return e
}
